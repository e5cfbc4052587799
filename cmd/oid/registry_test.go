package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// Without a store no process is shown, and no file is created. When the store exists, the process
// of the id is shown.
func TestTracer(t *testing.T) {
	t.Setenv("OID_STORE", "")
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	var where storeFlag
	var errs bytes.Buffer
	std := streams{err: &errs}
	tracer, err := where.openTracer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found := tracer.trace(t.Context(), std, objectid.New()); found != nil {
		t.Errorf("no registry shows %v", found)
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
	tracer.again = time.Now() // the pause is over
	want := "shop " + member.GPID().String() + " (ended)"
	if found := processLine(tracer.trace(t.Context(), std, id)); found != want {
		t.Errorf("process = %q, want %s", found, want)
	}
	if found := tracer.trace(t.Context(), std, objectid.New()); found == nil || processLine(found) != "" {
		t.Errorf("process of an id of no registered process = %v", found)
	}
	early := objectid.MinAt(id.Time().AddDate(-1, 0, 0))
	copy(early[4:], id[4:])
	if found := processLine(tracer.trace(t.Context(), std, early)); !strings.HasPrefix(found, "conflict: created ") {
		t.Errorf("process of an id from a year before = %q", found)
	}
	if err := tracer.Close(); err != nil || errs.Len() > 0 {
		t.Errorf("Close() = %v; reported %q", err, errs.String())
	}
	tracer = nil
	if tracer.trace(t.Context(), std, id) != nil || tracer.Close() != nil {
		t.Error("a nil tracer fails")
	}
}
