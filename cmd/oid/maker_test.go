package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// Without a configured registry nobody is named; with one, the maker is.
func TestMakers(t *testing.T) {
	t.Setenv("OID_STORE", "")
	var where storeFlag
	nobody, err := where.openMakers(t.Context())
	if err != nil || nobody != nil {
		t.Fatalf("without a registry: %v, %v, want nil", nobody, err)
	}
	if m, err := nobody.of(t.Context(), objectid.New()); m != nil || err != nil {
		t.Errorf("no registry names %v, %v", m, err)
	}
	if err := nobody.Close(); err != nil {
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
	makers, err := where.openMakers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer makers.Close()
	m, err := makers.of(t.Context(), id)
	if want := "shop " + member.GPID().String() + " (ended)"; err != nil || m == nil || m.String() != want {
		t.Errorf("maker = %v, %v, want %s", m, err, want)
	}
	if m, err := makers.of(t.Context(), objectid.New()); m != nil || err != nil {
		t.Errorf("maker of an id of nobody = %v, %v", m, err)
	}
	early := objectid.At(id.Time().AddDate(-1, 0, 0))
	copy(early[4:], id[4:])
	if m, err := makers.of(t.Context(), early); err != nil || m == nil || !strings.HasPrefix(m.String(), "conflict: created ") {
		t.Errorf("maker of an id from a year before = %v, %v", m, err)
	}
}
