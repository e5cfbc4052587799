package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// TestMain lets the test run the service as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("SHOP_TEST") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// shop is a running service.
type shop struct {
	cmd  *exec.Cmd
	gpid gpid.GPID
}

func start(t *testing.T, listen, path string) *shop {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{cmd: exec.Command(exe, "-listen", listen, "-store", path)}
	s.cmd.Env = append(os.Environ(), "SHOP_TEST=1")
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(syscall.SIGKILL) })
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(strings.TrimSpace(line), " as ")
	if s.gpid, err = gpid.Parse(text); err != nil {
		t.Fatalf("the service says %q: %v", line, err)
	}
	return s
}

func (s *shop) end(sig os.Signal) {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(sig)
		_ = s.cmd.Wait()
	}
}

// order posts an order and returns its id.
func (s *shop) order(t *testing.T, body string, want int) objectid.ID {
	t.Helper()
	client := http.Client{Timeout: 20 * time.Second}
	r, err := client.Post("http://"+s.gpid.Addr().String()+"/orders", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != want {
		t.Fatalf("order %s: %s %s, %v, want %d", body, r.Status, text, err, want)
	}
	if want != http.StatusCreated {
		return objectid.ID{}
	}
	return objectid.MustParse(strings.TrimSpace(string(text)))
}

// The service is killed and started again at its port: every order leads to the
// run that took it.
func TestOrdersAreTracedAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	first := start(t, "127.0.0.1:0", path)
	id1 := first.order(t, `{"item":"tea","price":{"$numberDecimal":"2.50"}}`, http.StatusCreated)
	first.order(t, `{"item":`, http.StatusBadRequest)
	first.end(syscall.SIGKILL)
	second := start(t, first.gpid.Addr().String(), path)
	id2 := second.order(t, `{"item":"cake"}`, http.StatusCreated)
	second.end(syscall.SIGTERM)

	s, err := sqlitestore.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n, err := s.Count(t.Context(), "orders", store.Range{}); err != nil || n != 2 {
		t.Errorf("%d orders, %v, want 2", n, err)
	}
	r := registry.New(s, &registry.Options{OneHost: true})
	for _, c := range []struct {
		id    objectid.ID
		maker gpid.GPID
		state registry.State
	}{{id1, first.gpid, registry.Dead}, {id2, second.gpid, registry.Ended}} {
		tr, err := r.Trace(t.Context(), c.id)
		if err != nil || tr.Verdict != registry.Known || tr.Processes[0].GPID != c.maker || tr.Processes[0].State != c.state {
			t.Errorf("trace of %v: %+v, %v, want %v, %s", c.id, tr, err, c.maker, c.state)
		}
		if tr.Before == nil || tr.Before.RSS <= 0 {
			t.Errorf("load of %v: %+v", c.id, tr.Before)
		}
	}
}
