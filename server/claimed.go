package server

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// claimed keeps by which process values ids can be traced, while many ids are asked for that
// nobody has created: for each of them this takes the place of a trace. The zero value is
// ready for use.
type claimed struct {
	recent[struct{}, *registry.ClaimedValues]
	unknown atomic.Int64 // traces without a process since they were read
	pays    atomic.Int64 // after so many they are read again, or after fewUnknown
}

const (
	// newest is how long after its creation an id is always traced, so that a process that
	// was registered a moment ago is found. It is more than the clocks of two hosts differ.
	newest = time.Minute

	maxClaimed     = 10_000 // claims are read up to so many, which takes about 20 ms
	claimedInTrace = 16     // so many at least are read in the time of a trace
	fewUnknown     = 16     // traces
)

// trace asks the registry for the trace of an id, unless it is known that nobody has
// claimed its process value.
func (s *Server) trace(ctx context.Context, id objectid.ID) (registry.Trace, error) {
	c := &s.claimed
	if id.Time().Before(s.options.Now().Add(-newest)) {
		values, _ := c.get(struct{}{}, time.Now())
		if t, ok := values.Trace(id); ok {
			return t, nil
		}
	}
	t, err := ask(ctx, s.backend, "trace", func(ctx context.Context, r *registry.Registry) (registry.Trace, error) {
		return r.Trace(ctx, id)
	})
	if err == nil && t.Verdict == registry.Unknown && c.unknown.Add(1) == max(c.pays.Load(), fewUnknown) {
		s.readClaimed(ctx)
	}
	return t, err
}

// readClaimed reads by which process values ids can be traced.
func (s *Server) readClaimed(ctx context.Context) {
	c, asked, pays := &s.claimed, time.Now(), 0
	values, err := ask(ctx, s.backend, "claimed", func(ctx context.Context, r *registry.Registry) (*registry.ClaimedValues, error) {
		return r.ClaimedValues(ctx, maxClaimed)
	})
	switch {
	case values != nil:
		c.put(struct{}{}, values, asked, 1)
		pays = values.Len() / claimedInTrace
	case err == nil: // they are too many, and will be for a while
		pays = maxClaimed
	}
	c.pays.Store(int64(pays))
	c.unknown.Store(0)
}
