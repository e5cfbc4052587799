package registry_test

import (
	"testing"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// lax is a store whose own methods must not be used, as those of a replica that
// lags behind: its embedded Store is nil.
type lax struct {
	store.Store
	strict store.Store
}

func (l lax) Linearizable() store.Store { return l.strict }

// TestRegistryIsConsistent registers a process in a store that a URL has made lax.
func TestRegistryIsConsistent(t *testing.T) {
	r := registry.New(lax{strict: newStore(t)}, &registry.Options{OneHost: true})
	m, err := r.Register(t.Context(), &registry.RegisterOptions{Name: "app"})
	if err != nil {
		t.Fatal(err)
	}
	if tr, err := r.Trace(t.Context(), m.Generator().New()); err != nil || tr.Verdict != registry.Known {
		t.Errorf("Trace: %+v, %v", tr, err)
	}
	if err := m.End(t.Context(), "done"); err != nil {
		t.Error(err)
	}
}
