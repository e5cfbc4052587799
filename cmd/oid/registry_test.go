package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// Without a configured registry no process is shown; with one, the process of the
// id is.
func TestTracer(t *testing.T) {
	t.Setenv("OID_STORE", "")
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

	path := filepath.Join(t.TempDir(), "registry.db")
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
	t.Setenv("OID_STORE", "sqlite:"+path)
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
	early := objectid.At(id.Time().AddDate(-1, 0, 0))
	copy(early[4:], id[4:])
	if found, err := tracer.trace(t.Context(), early); err != nil || !strings.HasPrefix(processLine(found), "conflict: created ") {
		t.Errorf("process of an id from a year before = %q, %v", processLine(found), err)
	}
}
