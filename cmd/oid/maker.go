package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// registryHelp is the paragraph of --help about where processes are recorded.
const registryHelp = `Processes are recorded in the store that --store or the variable OID_STORE names:
sqlite:PATH for those of one machine, postgres://..., mongodb://... or
mongodb+srv://... for those of several. Without either it is a file in your data
folder.`

// onlyHere reports whether only this host can reach s.
func onlyHere(s store.Store) bool {
	_, file := s.(*sqlitestore.Store)
	return file
}

// openRegistry opens the registry of a store to read it. The caller closes the
// store.
func (f *storeFlag) openRegistry(ctx context.Context) (*registry.Registry, store.Store, error) {
	s, err := f.openToRead(ctx)
	if err != nil {
		return nil, nil, err
	}
	return registry.New(s, &registry.Options{OneHost: onlyHere(s)}), s, nil
}

// makers names the processes that made ids, for commands that show it beside
// other things. A nil *makers, which stands for no registry, names nobody.
type makers struct {
	registry *registry.Registry
	store    store.Store
}

// openMakers opens the registry if one is configured, with --store or OID_STORE,
// and returns nil otherwise.
func (f *storeFlag) openMakers(ctx context.Context) (*makers, error) {
	if f.url == "" && os.Getenv("OID_STORE") == "" {
		return nil, nil
	}
	r, s, err := f.openRegistry(ctx)
	if err != nil {
		return nil, err
	}
	return &makers{r, s}, nil
}

// Close closes the store.
func (m *makers) Close() error {
	if m == nil {
		return nil
	}
	return m.store.Close()
}

// maker is what the registry says of an id's maker, in words and for --json.
type maker struct {
	Verdict registry.Verdict `json:"verdict"`
	Process string           `json:"process,omitempty"` // name and gpid, if it is known
	Reason  string           `json:"reason"`
}

// String says it on one line.
func (m maker) String() string {
	if m.Process != "" {
		return m.Process
	}
	return fmt.Sprintf("%s: %s", m.Verdict, m.Reason)
}

// of returns who made id, or nil if there is no registry or if it does not know.
func (m *makers) of(ctx context.Context, id objectid.ID) (*maker, error) {
	if m == nil {
		return nil, nil
	}
	t, err := m.registry.Trace(ctx, id)
	if err != nil {
		return nil, err
	}
	switch t.Verdict {
	case registry.Unknown:
		return nil, nil
	case registry.Known:
		p := t.Processes[0]
		return &maker{t.Verdict, fmt.Sprintf("%s %v (%s)", printable(p.Name), p.GPID, p.State), t.Reason}, nil
	default:
		return &maker{t.Verdict, "", t.Reason}, nil
	}
}

// closing closes s after work that ended with err.
func closing(s store.Store, err *error) { *err = errors.Join(*err, s.Close()) }
