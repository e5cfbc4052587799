package registry

import (
	"context"
	"os"
	"slices"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Classic is what an id says if its layout is classic: on which host and by which pid it was
// created. An id does not show its layout: with a probability of 1 in 16 million, an id of
// another layout has the machine bytes of a given host.
type Classic struct {
	Machine string // the first three bytes of the MD5 of the host's name, in hexadecimal
	Host    string
	PID     int
}

// runsOnHost returns the recorded processes with the host and the pid that an id of the
// classic layout contains: those that may have run when it was created, and the others.
func (r *Registry) runsOnHost(ctx context.Context, id objectid.ID) (ran, others []candidate, err error) {
	value := valueOf(id)
	for doc, err := range findDocs[hostDoc](ctx, r.store, hostRecords, store.Query{Range: between(value+":", value+";")}) {
		if err != nil {
			return nil, nil, err
		}
		s, recorded, err := r.holder(ctx, &claim{Process: doc.Key[len(value)+1:]})
		if err != nil {
			return nil, nil, err
		}
		if !recorded {
			continue // pruned just now
		}
		m := candidate{Status: s, drawn: true, from: s.started(), confirmed: s.Confirmed}
		if m.class, m.doubt = m.ran(id.Time()); m.class >= possible {
			ran = addRun(ran, m)
		} else {
			others = addRun(others, m)
		}
	}
	return ran, others, nil
}

// addRun appends m unless the list already has a record of the same run.
func addRun(to []candidate, m candidate) []candidate {
	if slices.ContainsFunc(to, func(n candidate) bool { return n.sameRun(&m.Process) }) {
		return to
	}
	return append(to, m)
}

// classicOf returns what id says in the classic layout. It returns nil unless the machine
// bytes are those of a recorded host or of this one.
func (r *Registry) classicOf(ctx context.Context, id objectid.ID) (*Classic, error) {
	machine, pid := classic.Split(id)
	c := Classic{Machine: machine, PID: pid}
	for doc, err := range findDocs[hostDoc](ctx, r.store, hostRecords, store.Query{Range: between(machine, machine+"g"), Limit: 1}) {
		if err != nil {
			return nil, err
		}
		c.Host = doc.Host
	}
	if host, err := os.Hostname(); c.Host == "" && err == nil && classic.Machine(host) == machine {
		c.Host = host
	}
	if c.Host == "" {
		return nil, nil
	}
	return &c, nil
}
