package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// TestCensusNames counts ids of a process that is recorded and of one that is
// not: the first has a name, and without the registry neither has.
func TestCensusNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "registry.db")
	s, err := sqlitestore.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	member, err := registry.New(s, nil).Register(t.Context(), &registry.RegisterOptions{Name: "orders-api"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := member.End(t.Context(), "test"); err != nil {
			t.Error(err)
		}
	}()
	file := filepath.Join(dir, "ids")
	known := member.Generator().New()
	if err := os.WriteFile(file, []byte(known.String()+"\n"+objectid.New().String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{file}, {"--store", "sqlite:" + path, file}} {
		r := censusOf(t, args...)
		for _, w := range r.TopProcesses {
			recorded := w.ProcessValue == known.String()[8:18]
			if named := strings.Contains(w.Name, "orders-api"); named != (recorded && len(args) > 1) {
				t.Errorf("oid census %v: writer %s has the name %q", args[:len(args)-1], w.ProcessValue, w.Name)
			}
		}
	}

	// A registry that cannot be opened is no reason to count nothing.
	var out, errs strings.Builder
	code := run(t.Context(), streams{strings.NewReader(""), &out, &errs}, []string{"census", "--store", "sqlite:" + path + ".missing", file})
	if code != exitDone || !strings.Contains(out.String(), "2 ObjectIds") || !strings.Contains(errs.String(), "processes are shown without names") {
		t.Errorf("without the file: exit code %d, %s%s", code, out.String(), errs.String())
	}
}

// TestCensusOfThisHost counts ids of the classic layout, of this host and of another.
func TestCensusOfThisHost(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ids")
	other := "6592008" + "0" + classic.Value(host+".example", 7814) + "000001\n"
	if err := os.WriteFile(file, []byte("6592008"+"0"+classic.Value(host, 7814)+"000001\n"+other), 0o644); err != nil {
		t.Fatal(err)
	}
	registry := filepath.Join(t.TempDir(), "registry.db")
	s, err := sqlitestore.Open(t.Context(), registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{file}, {"--store", "sqlite:" + registry, file}} {
		for _, p := range censusOf(t, args...).TopProcesses {
			want := ""
			if p.ProcessValue == classic.Value(host, 7814) {
				want = "host " + host + ", pid 7814"
			}
			if p.Name != want {
				t.Errorf("process %s has the name %q, want %q", p.ProcessValue, p.Name, want)
			}
		}
	}
}
