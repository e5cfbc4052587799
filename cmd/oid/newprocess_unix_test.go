//go:build unix

package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// Commands that read a log remember for a moment which process values nobody has
// registered. They still name the process of a new id if that process has registered since.
func TestProcessRegistersMeanwhile(t *testing.T) {
	for _, command := range []string{"annotate", "inspect --grep", "trace --grep"} {
		t.Run(command, func(t *testing.T) {
			where := storeFlag{url: "sqlite:" + filepath.Join(t.TempDir(), "registry.db")}
			s, err := where.openToWrite(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			register := func() *registry.Member {
				m, err := where.registry(s).Register(t.Context(), &registry.RegisterOptions{Name: "shop", Addr: "127.0.0.1:8080"})
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			defer register().End(t.Context(), "done")

			in, feed := io.Pipe()
			var out output
			done := make(chan int, 1)
			go func() {
				done <- run(t.Context(), streams{in, &out, io.Discard}, append(strings.Fields(command), "--store", where.url))
			}()
			log := func(id objectid.ID) {
				fmt.Fprintf(feed, "order %v failed\n%[1]v\n", id)
				for range 2000 {
					if strings.Count(out.String(), id.String()) >= 2 {
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
				t.Fatalf("%v is not printed", id)
			}
			old := objectid.MinAt(time.Now().Add(-time.Hour))
			for range 20 {
				rand.Read(old[4:])
				log(old)
			}
			late := register()
			defer late.End(t.Context(), "done")
			id := late.Generator().New()
			log(id)
			feed.Close()
			if code := <-done; code != 0 {
				t.Errorf("exit code %d", code)
			}
			after := out.String()[strings.Index(out.String(), id.String()):]
			if n := strings.Count(after, "shop"); n != 2 {
				t.Errorf("the process is named %d times, want 2:\n%s", n, after)
			}
		})
	}
}
