package locktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// Histories lets sixteen clients take one lock in every way there is, through the
// lockers, and checks what they saw against a lock that is one variable: in so many
// runs, and on until end. Clients that give up do so within patience.
func Histories(t *testing.T, lockers []lock.Locker, runs int, end time.Time, patience time.Duration) {
	const clients = 16
	var grants, waits int
	for run := 0; run < runs || time.Now().Before(end); run++ {
		var mu sync.Mutex
		var h history
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				c := client{id: i, locker: lockers[i%len(lockers)], name: fmt.Sprintf("run %d", run), patience: patience}
				for range 4 {
					c.step(t)
				}
				mu.Lock()
				defer mu.Unlock()
				h = append(h, c.history...)
			})
		}
		wg.Wait()
		g, w := h.check(t)
		grants, waits = grants+g, waits+w
		if t.Failed() {
			return
		}
	}
	t.Logf("%d grants, %d of them after waiting", grants, waits)
	if grants < runs || waits < runs {
		t.Errorf("%d grants and %d waits in %d runs tell too little", grants, waits, runs)
	}
}

// Kinds of operations. A status that shows a holder and a try that was refused
// are the same: somebody was seen to hold.
type kind int

const (
	granted kind = iota
	released
	seenHeld
	seenFree
)

// output is what an operation told: the fence of the lease that was taken, given
// back or seen.
type output struct {
	kind  kind
	fence uint64
	rank  int // of a granted fence among all of the history
	ghost bool
}

type history []porcupine.Operation

// client is one of many that use a lock at the same time.
type client struct {
	id      int
	locker  lock.Locker
	name    string
	history history

	patience time.Duration
}

var clock = time.Now()

func (c *client) record(call time.Duration, o output) {
	c.history = append(c.history, porcupine.Operation{
		ClientId: c.id, Call: int64(call), Output: o, Return: int64(time.Since(clock)),
	})
}

// step does one of the things that can be done with a lock.
func (c *client) step(t *testing.T) {
	call := time.Since(clock)
	var lease *lock.Lease
	var err error
	switch n := rand.IntN(10); {
	case n < 5:
		lease, err = c.locker.Acquire(t.Context(), c.name, nil)
	case n < 7: // one that may give up while it waits, or while it is being given the lock
		ctx, cancel := context.WithTimeout(t.Context(), rand.N(c.patience))
		defer cancel()
		lease, err = c.locker.Acquire(ctx, c.name, nil)
		if errors.Is(err, context.DeadlineExceeded) {
			return
		}
	case n < 9:
		lease, err = c.locker.TryAcquire(t.Context(), c.name, nil)
	default:
		s, err := c.locker.Status(t.Context(), c.name)
		switch {
		case err != nil:
			t.Errorf("Status: %v", err)
		case s.Held:
			c.record(call, output{kind: seenHeld, fence: s.Fence})
		default:
			c.record(call, output{kind: seenFree})
		}
		return
	}
	if held := (*lock.HeldError)(nil); errors.As(err, &held) {
		c.record(call, output{kind: seenHeld, fence: held.Status.Fence})
		return
	}
	if err != nil {
		t.Errorf("acquire: %v", err)
		return
	}
	c.record(call, output{kind: granted, fence: lease.Fence()})
	time.Sleep(rand.N(300 * time.Microsecond))
	call = time.Since(clock)
	testenv.WantError(t, "Release", lease.Release(), nil)
	c.record(call, output{kind: released, fence: lease.Fence()})
}

// variable is the lock that the histories are held against.
type variable struct {
	holder uint64 // fence; 0: nobody
	grants int
}

var model = porcupine.Model{
	Init: func() any { return variable{} },
	Step: func(state, _, out any) (bool, any) {
		v, o := state.(variable), out.(output)
		switch o.kind {
		case granted:
			// That fences rise means that the grant with the n-th smallest fence
			// is the n-th grant.
			return v.holder == 0 && v.grants == o.rank, variable{o.fence, v.grants + 1}
		case released:
			return v.holder == o.fence, variable{0, v.grants}
		case seenHeld:
			// One that gave up may be given the lock before it can say so. It then
			// hands it on, and nobody has a lease with that fence.
			return o.ghost || v.holder == o.fence, v
		default:
			return v.holder == 0, v
		}
	},
	DescribeOperation: func(_, out any) string { return fmt.Sprintf("%+v", out) },
}

// check ends the test if the history could not have happened to the model, and
// otherwise returns the number of grants and of those that took some time.
func (h history) check(t *testing.T) (grants, waits int) {
	t.Helper()
	var fences []uint64
	for _, op := range h {
		if o := op.Output.(output); o.kind == granted {
			fences = append(fences, o.fence)
			if op.Return-op.Call > int64(time.Millisecond) {
				waits++
			}
		}
	}
	slices.Sort(fences)
	for i := range h {
		o := h[i].Output.(output)
		var found bool
		o.rank, found = slices.BinarySearch(fences, o.fence)
		o.ghost = !found
		h[i].Output = o
	}
	result, info := porcupine.CheckOperationsVerbose(model, h, time.Minute)
	if result != porcupine.Ok {
		path := t.ArtifactDir() + "/history.html"
		if err := porcupine.VisualizePath(model, info, path); err != nil {
			t.Error(err)
		}
		t.Errorf("history is %v, see %s (kept with -artifacts)", result, path)
	}
	return len(fences), waits
}
