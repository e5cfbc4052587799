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

	"go.mongodb.org/mongo-driver/v2/bson"

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

// List returns every recorded process, ordered by address and then by start time. Two
// processes that have the same value and may both be alive are each other's rivals. The
// first error ends the sequence.
func (r *Registry) List(ctx context.Context) iter.Seq2[Status, error] { return r.all(ctx, Query{}) }

// At returns the runs at the address that peers dial, ordered by start time: more
// than one shows a restart.
func (r *Registry) At(ctx context.Context, addr netip.AddrPort) iter.Seq2[Status, error] {
	return r.all(ctx, Query{Addr: addr})
}

// Find returns the processes with the given GPID: one for each time that a run
// registered, and remote ones that were given the same GPID. The sequence is empty if
// none is recorded.
func (r *Registry) Find(ctx context.Context, g gpid.GPID) iter.Seq2[Status, error] {
	return r.all(ctx, Query{GPID: g})
}

// all returns the processes of all pages of q.
func (r *Registry) all(ctx context.Context, q Query) iter.Seq2[Status, error] {
	q.Limit = maxCandidates
	return func(yield func(Status, error) bool) {
		for {
			page, err := r.Page(ctx, q)
			for _, s := range page.Processes {
				if !yield(s, nil) {
					return
				}
			}
			if err != nil {
				yield(Status{}, err)
			}
			if q.After = page.Next; err != nil || q.After == "" {
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

// status judges one process and looks for its successor.
func (r *Registry) status(ctx context.Context, p *Process) (Status, error) {
	all, err := r.statuses(ctx, []*Process{p})
	if err != nil {
		return Status{}, err
	}
	return all[0], nil
}

// statuses is status for many processes with few calls of the store.
func (r *Registry) statuses(ctx context.Context, all []*Process) ([]Status, error) {
	out := make([]Status, len(all))
	var asked []int // whose state depends on their successors
	var ranges []store.Range
	for i, p := range all {
		out[i] = r.judge(p, func() *Process {
			if addr := p.GPID.Addr(); addr.Port() != 0 && p.Kernel.Boot != "" { // others have none
				later := addrRange(addr)
				later.From = key(processKey(p.GPID, p.Block) + "\x00")
				asked, ranges = append(asked, i), append(ranges, later)
			}
			return nil
		})
	}
	for _, limit := range []int{firstLater, maxLater} {
		if len(asked) == 0 {
			break
		}
		found, err := r.store.FindMany(ctx, processes, ranges, limit)
		if err != nil {
			return nil, fmt.Errorf("registry: read %s: %w", processes, err)
		}
		n := 0
		for k, i := range asked {
			next, err := successorIn(all[i], found[k])
			if err != nil {
				return nil, err
			}
			if next != nil {
				out[i] = r.judge(all[i], func() *Process { return next })
			} else if len(found[k]) == limit { // perhaps one of those after them
				asked[n], ranges[n] = i, ranges[k]
				n++
			}
		}
		asked, ranges = asked[:n], ranges[:n]
	}
	return out, nil
}

// successorIn is successor with the records of later runs.
func successorIn(p *Process, later []bson.Raw) (*Process, error) {
	for _, raw := range later {
		doc, err := decode[record](raw, processes)
		if err != nil || successor(p, &doc.Process) {
			return &doc.Process, err
		}
	}
	return nil, nil
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
		r.samplesOf(ctx, m.process, from, to)(yield)
	}
}
