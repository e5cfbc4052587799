package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// registry returns the registry in the store s that was opened.
func (f *storeFlag) registry(s store.Store) *registry.Registry {
	return registry.New(s, &registry.Options{OneHost: f.oneHost()})
}

// oneHost reports whether only this host can reach the store.
func (f *storeFlag) oneHost() bool {
	e, err := f.engine()
	return err == nil && e.oneHost
}

// tracer finds the processes of ids for commands that show them beside other
// things. A nil *tracer, for no registry, finds none.
type tracer struct {
	*registry.Tracer
	store store.Store
}

// openTracer opens the registry, and returns nil if there is none: the file of OID_STORE, or
// that of the default, may not exist yet. A store that --store names must be there.
func (f *storeFlag) openTracer(ctx context.Context) (*tracer, error) {
	s, err := f.openToRead(ctx)
	switch {
	case f.url == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDataFolder)):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &tracer{registry.NewTracer(f.registry(s)), s}, nil
}

// Close closes the store.
func (t *tracer) Close() error {
	if t == nil {
		return nil
	}
	return t.store.Close()
}

// trace returns the trace of id, or nil if there is no registry.
func (t *tracer) trace(ctx context.Context, id objectid.ID) (*registry.Trace, error) {
	if t == nil {
		return nil, nil
	}
	found, err := t.Trace(ctx, id)
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// processLine returns the process of a trace on one line, or its host and pid, or the
// verdict, or "" if no registered process has used the process value.
func processLine(t *registry.Trace) string {
	switch {
	case t == nil || t.Verdict == registry.Unknown && t.Classic == nil:
		return ""
	case t.Verdict == registry.Unknown:
		return fmt.Sprintf("host %s, pid %d: not recorded", phrase.Shown(t.Classic.Host), t.Classic.PID)
	case t.Verdict == registry.Known || t.Verdict == registry.Claimed:
		p := t.Processes[0]
		return fmt.Sprintf("%s%s %v (%s)", claimedBy(t), phrase.Shown(p.Name), p.GPID, p.State)
	default:
		return fmt.Sprintf("%s: %s", t.Verdict, t.Reason)
	}
}

// claimedBy returns the words before the name of the process: none if it is known.
func claimedBy(t *registry.Trace) string {
	if t.Verdict == registry.Claimed {
		return "claimed by "
	}
	return ""
}

// namer returns a function that returns the process of an id, or "", and one that
// returns its first error. A process is named as the registry knows it or, without one, by
// this host and its pid if the id has them in the classic layout.
func (t *tracer) namer(ctx context.Context) (name func(objectid.ID) string, failed func() error) {
	var failure error
	failed = func() error { return failure }
	host, err := os.Hostname()
	here := func(id objectid.ID) string {
		if machine, pid := classic.Split(id); err == nil && machine == classic.Machine(host) {
			return fmt.Sprintf("host %s, pid %d", phrase.Shown(host), pid)
		}
		return ""
	}
	return func(id objectid.ID) string {
		found, err := t.trace(ctx, id)
		failure = cmp.Or(failure, err)
		switch {
		case found == nil:
			return here(id)
		case found.Verdict == registry.Conflict, found.Verdict == registry.Collision:
			return ""
		}
		return processLine(found)
	}, failed
}
