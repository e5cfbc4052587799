package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// The instance id in the resource of the SDK is that of the process to which the id is traced:
// one that the GPID makes, or that of the environment.
func TestInstanceID(t *testing.T) {
	for _, given := range []string{"", "shop-1"} {
		t.Setenv("OTEL_SERVICE_NAME", "shop")
		t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.version=1.4.2,service.instance.id="+given)
		path := filepath.Join(t.TempDir(), "registry.db")
		stdout := os.Stdout
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout = w
		err = run(t.Context(), path)
		os.Stdout = stdout
		w.Close()
		text, readErr := io.ReadAll(r)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		s, err := sqlitestore.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		traced, err := registry.New(s, nil).Trace(t.Context(), objectid.MustParse(lines[0]))
		if err != nil || traced.Verdict != registry.Known {
			t.Fatalf("%s: %v, %v", lines[0], traced.Verdict, err)
		}
		p := traced.Processes[0]
		if p.Name != "shop" || p.Version != "1.4.2" || given != "" && p.InstanceID() != given || len(p.InstanceID()) < 6 {
			t.Errorf("recorded as %s %s %s", p.Name, p.Version, p.InstanceID())
		}
		for _, want := range []string{"service.name=shop", "service.instance.id=" + p.InstanceID()} {
			if !strings.Contains(string(text), "\n"+want+"\n") {
				t.Errorf("the resource of the SDK has no %s:\n%s", want, text)
			}
		}
	}
}
