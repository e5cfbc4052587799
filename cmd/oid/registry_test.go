package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// Without a store no process is shown, and no file is created; with one, the process of
// the id is.
func TestTracer(t *testing.T) {
	t.Setenv("OID_STORE", "")
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	var where storeFlag
	none, err := where.openTracer(t.Context())
	if err != nil || none != nil {
		t.Fatalf("without a registry: %v, %v, want nil", none, err)
	}
	if found, err := none.trace(t.Context(), objectid.New()); found != nil || err != nil {
		t.Errorf("no registry shows %v, %v", found, err)
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	path, err := defaultStore()
	if err != nil {
		t.Fatal(err)
	}
	if made, err := os.ReadDir(home); len(made) > 0 || err != nil {
		t.Errorf("a command that reads has created %v, %v", made, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := sqlitestore.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	member, err := registry.New(s, nil).Register(t.Context(), &registry.RegisterOptions{Name: "shop", Addr: "127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	id := member.Generator().New()
	if err := member.End(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	tracer, err := where.openTracer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	found, err := tracer.trace(t.Context(), id)
	if want := "shop " + member.GPID().String() + " (ended)"; err != nil || processLine(found) != want {
		t.Errorf("process = %q, %v, want %s", processLine(found), err, want)
	}
	if found, err := tracer.trace(t.Context(), objectid.New()); err != nil || processLine(found) != "" {
		t.Errorf("process of an id of no registered process = %q, %v", processLine(found), err)
	}
	early := objectid.MinAt(id.Time().AddDate(-1, 0, 0))
	copy(early[4:], id[4:])
	if found, err := tracer.trace(t.Context(), early); err != nil || !strings.HasPrefix(processLine(found), "conflict: created ") {
		t.Errorf("process of an id from a year before = %q, %v", processLine(found), err)
	}
}
