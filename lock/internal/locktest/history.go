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

// Histories makes sixteen clients use one lock at the same time, in all ways that a lock can
// be used. Then it checks that a lock that is a single variable could have shown them the
// same. It does so in the given number of runs, and goes on until end. A client gives up
// within patience.
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

// Kinds of operations. A status that shows a holder and a try that was refused are the same
// kind: the client has seen somebody hold the lock.
type kind int

const (
	granted kind = iota
	released
	seenHeld
	seenFree
)

// output is what an operation returned: the fence of the lease that it took, released or saw.
type output struct {
	kind  kind
	fence uint64
	rank  int // position of a granted fence among all fences of the history, sorted
	ghost bool
}

type history []porcupine.Operation

// client is one of several users of the lock.
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

// step does one random operation.
func (c *client) step(t *testing.T) {
	call := time.Since(clock)
	var lease *lock.Lease
	var err error
	switch n := rand.IntN(10); {
	case n < 5:
		lease, err = c.locker.Acquire(t.Context(), c.name, nil)
	case n < 7: // may give up while it waits, or while it is getting the lock
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

// variable is the model of the lock with which histories are compared.
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
			// Fences increase if the n-th grant has the n-th smallest fence.
			return v.holder == 0 && v.grants == o.rank, variable{o.fence, v.grants + 1}
		case released:
			return v.holder == o.fence, variable{0, v.grants}
		case seenHeld:
			// A call that gave up may have got the lock just before. It has then released
			// the lock, and nobody has a lease with that fence.
			return o.ghost || v.holder == o.fence, v
		default:
			return v.holder == 0, v
		}
	},
	DescribeOperation: func(_, out any) string { return fmt.Sprintf("%+v", out) },
}

// check ends the test if the history is impossible for the model. It returns the number of
// grants, and of grants that took some time.
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
