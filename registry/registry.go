package registry

import (
	"context"
	"fmt"
	"iter"
	"net/netip"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// View tunes a [Registry]. The zero value, like a nil pointer, is ready to use.
type View struct {
	// OneHost says that only this host can reach the store, as it is with a file.
	// A process of another boot is then known to have ended.
	OneHost bool
	// Now is the wall clock. Default: the system's.
	Now func() time.Time
}

// Registry reads what members have recorded. Keep one for long: it learns by
// watching which of the silent processes of other hosts are dead. Any number of
// goroutines may share it.
type Registry struct {
	store store.Store
	view  View
	here  here

	mu      sync.Mutex
	watched map[objectid.ID]watch // by member
}

// New returns the registry that s holds. A nil v stands for the zero View.
func New(s store.Store, v *View) *Registry {
	r := &Registry{store: s, here: findHere(), watched: map[objectid.ID]watch{}}
	if v != nil {
		r.view = *v
	}
	return r
}

// List returns every process that is recorded, by address and then in the order
// of their start. Two processes that have the same value and may both be alive
// are each other's rivals. The first error ends the sequence.
func (r *Registry) List(ctx context.Context) iter.Seq2[Status, error] {
	return r.list(ctx, store.Range{})
}

// At returns the runs at the address that peers dial, in the order of their
// start: where there is a second one, there was a restart.
func (r *Registry) At(ctx context.Context, addr netip.AddrPort) iter.Seq2[Status, error] {
	return r.list(ctx, addrRange(addr))
}

// Find returns the run of that name, once for each time that it joined. The
// sequence is empty if it is not recorded.
func (r *Registry) Find(ctx context.Context, g gpid.GPID) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		for p, err := range r.processes(ctx, runRange(g)) {
			var s Status
			if err == nil {
				s, err = r.status(ctx, p)
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// maxLater is among how many later runs at its address a run's successor is
// looked for.
const maxLater = 100

// list judges each process of an address by those that come after it.
func (r *Registry) list(ctx context.Context, keys store.Range) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		var runs []*Process // at one address, or one that listens on nothing
		flush := func() bool {
			for i, p := range runs {
				s, err := r.judged(ctx, p, func() (*Process, error) {
					return successor(p, runs[i+1:min(len(runs), i+1+maxLater)]), nil
				})
				if !yield(s, err) || err != nil {
					return false
				}
			}
			runs = runs[:0]
			return true
		}
		for p, err := range r.processes(ctx, keys) {
			if err != nil {
				yield(Status{}, err)
				return
			}
			if len(runs) > 0 && (runs[0].GPID.Addr() != p.GPID.Addr() || p.GPID.Addr().Port() == 0) && !flush() {
				return
			}
			runs = append(runs, p)
		}
		flush()
	}
}

// status judges one process, whose successor it looks for.
func (r *Registry) status(ctx context.Context, p *Process) (Status, error) {
	return r.judge(p, func() (*Process, error) {
		if p.GPID.Addr().Port() == 0 {
			return nil, nil
		}
		later := addrRange(p.GPID.Addr())
		later.From = key(p.Key + "\x00")
		for q, err := range read[Process](ctx, r.store, processes, store.Query{Range: later, Limit: maxLater}) {
			if err != nil {
				return nil, err
			}
			if next := successor(p, []*Process{q}); next != nil {
				return next, nil
			}
		}
		return nil, nil
	})
}

// judged is judge with the rivals of a process that may be alive.
func (r *Registry) judged(ctx context.Context, p *Process, next func() (*Process, error)) (Status, error) {
	s, err := r.judge(p, next)
	if err == nil && s.State.mayLive() {
		s.Rivals, err = r.rivals(ctx, p)
	}
	return s, err
}

// processes reads the records with a key in keys.
func (r *Registry) processes(ctx context.Context, keys store.Range) iter.Seq2[*Process, error] {
	return read[Process](ctx, r.store, processes, store.Query{Range: keys})
}

// History returns the samples of a run from one time to another, in order; a
// zero time is no bound. The error wraps [store.ErrNotFound] if the run is not
// recorded.
func (r *Registry) History(ctx context.Context, g gpid.GPID, from, to time.Time) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		found := false
		for p, err := range r.processes(ctx, runRange(g)) {
			if err != nil {
				yield(Sample{}, err)
				return
			}
			found = true
			for s, err := range r.samples(ctx, store.Query{Range: sampleRange(p.Block, from, to)}) {
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
		if !found {
			yield(Sample{}, fmt.Errorf("registry: process %v: %w", g, store.ErrNotFound))
		}
	}
}

// samples reads the samples that q asks for.
func (r *Registry) samples(ctx context.Context, q store.Query) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		for doc, err := range read[sampleDoc](ctx, r.store, samples, q) {
			var s Sample
			if err == nil {
				s.Load = doc.Load
				s.Time, err = sampleTime(doc.Key)
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// read finds and decodes documents. The first error ends the sequence.
func read[T any](ctx context.Context, s store.Store, collection string, q store.Query) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for raw, err := range s.Find(ctx, collection, q) {
			if err != nil {
				yield(nil, fmt.Errorf("registry: read %s: %w", collection, err))
				return
			}
			doc := new(T)
			if err := bson.Unmarshal(raw, doc); err != nil {
				yield(nil, fmt.Errorf("registry: read document of %s: %w", collection, err))
				return
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}
