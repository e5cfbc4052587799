package registry

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Registry is the registry in one store: it records processes and traces ids to
// them. Keep one for a long time: it learns by watching which late processes of
// other hosts are dead, and its members use the same knowledge. Any number of
// goroutines may share it.
type Registry struct {
	store       store.Store
	outages     *outages // of store
	options     Options
	here        here
	random      io.Reader     // blocks are drawn from it
	keepSamples time.Duration // see keepSamples
	pruneAtOnce int           // see pruneAtOnce
	pruneBatch  int           // see pruneBatch
	maxRead     int           // see maxRead

	mu      sync.Mutex
	watched map[objectid.ID]watch    // by member
	remotes map[MemberKey]remembered // see Heartbeats
}

// New returns the registry in s, which it uses as [store.Consistent] returns it. A
// nil o stands for the zero Options.
func New(s store.Store, o *Options) *Registry {
	seen := &outages{Store: store.Consistent(s)}
	r := &Registry{store: newBatches(seen), outages: seen, here: findHere(), random: rand.Reader, keepSamples: keepSamples, pruneAtOnce: pruneAtOnce, pruneBatch: pruneBatch, maxRead: maxRead, watched: map[objectid.ID]watch{}, remotes: map[MemberKey]remembered{}}
	if o != nil {
		r.options = *o
	}
	if r.options.KeepAll = max(r.options.KeepAll, time.Hour); o == nil || o.KeepAll == 0 {
		r.options.KeepAll = 24 * time.Hour
	}
	if r.options.Log == nil {
		r.options.Log = slog.Default()
	}
	return r
}

// List returns every recorded process, ordered by address and then by start time.
// Two processes that have the same value and may both be alive are each other's
// rivals. The first error ends the sequence.
func (r *Registry) List(ctx context.Context) iter.Seq2[Status, error] {
	return r.list(ctx, store.Range{})
}

// At returns the runs at the address that peers dial, ordered by start time: more
// than one shows a restart.
func (r *Registry) At(ctx context.Context, addr netip.AddrPort) iter.Seq2[Status, error] {
	return r.list(ctx, addrRange(addr))
}

// Find returns the processes with the given GPID: one for each time that a run
// registered, and remote ones that were given the same GPID. The sequence is empty if
// none is recorded.
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

// maxLater bounds the number of later runs at an address among which the successor
// of a run is looked for. It is nearly always one of the first.
const (
	firstLater = 3
	maxLater   = 100
)

// list judges each process of an address by those that come after it.
func (r *Registry) list(ctx context.Context, keys store.Range) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		var runs []*Process // at one address, or one that does not listen
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

// laterRuns returns the range of the runs at the address of p that may have replaced it,
// see successor, or false if there can be none.
func laterRuns(p *Process) (store.Range, bool) {
	later := addrRange(p.GPID.Addr())
	later.From = key(processKey(p.GPID, p.Block) + "\x00")
	return later, p.GPID.Addr().Port() != 0 && p.Kernel.Boot != ""
}

// status judges one process and looks for its successor.
func (r *Registry) status(ctx context.Context, p *Process) (Status, error) {
	return r.judge(p, func() (*Process, error) {
		later, may := laterRuns(p)
		if !may {
			return nil, nil
		}
		for _, limit := range []int{firstLater, maxLater} {
			n := 0
			for q, err := range read[record](ctx, r.store, processes, store.Query{Range: later, Limit: limit}) {
				if err != nil {
					return nil, err
				}
				if n++; successor(p, []*Process{&q.Process}) != nil {
					return &q.Process, nil
				}
			}
			if n < limit {
				break
			}
		}
		return nil, nil
	})
}

// statuses is status for many processes with few calls of the store.
func (r *Registry) statuses(ctx context.Context, all []*Process) ([]Status, error) {
	out := make([]Status, len(all))
	var asked []int // whose state depends on their successors
	var ranges []store.Range
	for i, p := range all {
		var err error
		out[i], err = r.judge(p, func() (*Process, error) {
			if later, may := laterRuns(p); may {
				asked, ranges = append(asked, i), append(ranges, later)
			}
			return nil, nil
		})
		if err != nil {
			return nil, err
		}
	}
	found, err := r.store.FindMany(ctx, processes, ranges, firstLater)
	if err != nil {
		return nil, fmt.Errorf("registry: read %s: %w", processes, err)
	}
	return out, each(len(asked), func(k int) (err error) {
		p, to := all[asked[k]], &out[asked[k]]
		for _, raw := range found[k] {
			doc, err := decode[record](raw, processes)
			if err != nil {
				return err
			}
			if successor(p, []*Process{&doc.Process}) != nil {
				*to, err = r.judge(p, func() (*Process, error) { return &doc.Process, nil })
				return err
			}
		}
		if len(found[k]) == firstLater { // perhaps one of those after them
			*to, err = r.status(ctx, p)
		}
		return err
	})
}

// judged is judge with the rivals of a process that may be alive.
func (r *Registry) judged(ctx context.Context, p *Process, next func() (*Process, error)) (Status, error) {
	s, err := r.judge(p, next)
	if err == nil && s.State.mayLive() {
		var collision *CollisionError
		collision, _, err = r.rivals(ctx, p)
		s.Rivals = collision.others()
	}
	return s, err
}

// processes reads the records with a key in keys.
func (r *Registry) processes(ctx context.Context, keys store.Range) iter.Seq2[*Process, error] {
	return func(yield func(*Process, error) bool) {
		var docs []*record
		flush := func() bool {
			found, err := r.currents(ctx, docs)
			docs = docs[:0]
			if err != nil {
				yield(nil, err)
				return false
			}
			for _, p := range found {
				if p != nil && !yield(p, nil) {
					return false
				}
			}
			return true
		}
		for doc, err := range read[record](ctx, r.store, processes, store.Query{Range: keys}) {
			if err != nil {
				if flush() {
					yield(nil, err)
				}
				return
			}
			if docs = append(docs, doc); len(docs) == maxBatch && !flush() {
				return
			}
		}
		flush()
	}
}

// History returns the samples of a member from one time to another, in order of time;
// a zero time means no bound. [Registry.Find] returns the members that have a GPID.
// The error wraps [store.ErrNotFound] if the member is not recorded.
func (r *Registry) History(ctx context.Context, k MemberKey, from, to time.Time) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		m := r.member(ctx, k)
		if m.err != nil {
			yield(Sample{}, m.err)
			return
		}
		for s, err := range r.samplesOf(ctx, m.process, from, to) {
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}
