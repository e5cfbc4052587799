package main

import (
	"context"
	"fmt"
	"os"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// namer returns a function that returns the process of an id, or "", and one that
// returns its first error. A process is named as the registry knows it or, without one, by
// this host and its pid if the id has them in the classic layout.
func (t *tracer) namer(ctx context.Context) (name func(objectid.ID) string, failed func() error) {
	var failure error
	failed = func() error { return failure }
	host, err := os.Hostname()
	here := func(id objectid.ID) string {
		if machine, pid := classic.Split(id); err == nil && machine == classic.Machine(host) {
			return fmt.Sprintf("host %s, pid %d", printable(host), pid)
		}
		return ""
	}
	return func(id objectid.ID) string {
		found, err := t.trace(ctx, id)
		if failure == nil {
			failure = err
		}
		switch {
		case found == nil, found.Verdict == registry.Unknown:
			return here(id)
		case found.Verdict == registry.Conflict, found.Verdict == registry.Collision:
			return ""
		}
		return processLine(found)
	}, failed
}
