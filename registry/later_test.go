package registry_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// A program starts while its PostgreSQL server is down, creates ids, and they are traced
// once the server has come.
func TestStartBeforePostgres(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	server.Kill()
	startBefore(t, "PostgreSQL at "+server.Addr+" does not answer", server.Start, func(ctx context.Context) (store.Store, error) {
		return pgstore.Open(ctx, server.URL())
	})
}

// The same with a file on a disk that is mounted later.
func TestStartBeforeTheFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "disk")
	mount := func() {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Error(err)
		}
	}
	startBefore(t, "its folder", mount, func(ctx context.Context) (store.Store, error) {
		return sqlitestore.Open(ctx, filepath.Join(folder, "oid.db"), nil)
	})
}

func startBefore(t *testing.T, missing string, come func(), open func(context.Context) (store.Store, error)) {
	s := store.OpenLater(open)
	defer s.Close()
	r := registry.New(s, &registry.Options{Log: quiet})
	if _, err := r.Register(t.Context(), nil); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("Register without Offline: %v, want %q", err, missing)
	}
	began := time.Now()
	m, err := r.Register(t.Context(), &registry.RegisterOptions{Name: "shop", Offline: true, Interval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Detach(t.Context())
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Register took %v", took)
	}
	early := m.Generator().New()
	if err := m.Err(); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("Err: %v, want %q", err, missing)
	}
	if _, err := r.Trace(t.Context(), early); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("Trace: %v, want %q", err, missing)
	}
	time.Sleep(1100 * time.Millisecond) // ids know whole seconds
	come()
	eventually(t, "registered", func() bool { return m.Err() == nil })
	time.Sleep(1100 * time.Millisecond)
	late := m.Generator().New()

	other, err := open(t.Context()) // another process
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	r = registry.New(other, nil)
	if tr := trace(t, r, early); tr.Verdict != registry.Known || tr.Certain || tr.Processes[0].Name != "shop" {
		t.Errorf("created before the store came: %s, certain %v, %q", tr.Verdict, tr.Certain, tr.Reason)
	}
	eventually(t, "the next id is certain", func() bool {
		tr := trace(t, r, late)
		return tr.Verdict == registry.Known && tr.Certain
	})
}
