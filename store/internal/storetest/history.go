package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
)

// request is what a client asks of a register: a document with one field, v. Several clients
// send requests at the same time. The history of all requests and answers must be linearizable,
// that is, possible for a register that handles one request after another.
type request struct {
	key  int
	kind kind
	old  int32 // the value that was read before
	new  int32 // the value to write
}

type kind int

const (
	read kind = iota
	swap
	deleteIf
	insertNew
	replace
	remove
)

// answer is the answer to a request: the value that was read, or whether the write was done.
type answer struct {
	value   int32 // absent if there is no document
	done    bool
	unknown bool // whether the request failed, so that it may or may not have been done
}

const absent int32 = -1

// registers is the model of a register for porcupine. Its state is the value. No value is written
// twice, so a value also identifies a revision.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[int][]porcupine.Operation{}
		for _, o := range history {
			key := o.Input.(request).key
			parts[key] = append(parts[key], o)
		}
		return slices.Collect(maps.Values(parts))
	},
	Init: func() any { return absent },
	Step: func(state, input, output any) (bool, any) {
		now, r, a := state.(int32), input.(request), output.(answer)
		next, possible := now, true
		switch r.kind {
		case read:
			return a.value == now, now
		case swap, deleteIf:
			possible = now == r.old
		case insertNew:
			possible = now == absent
		case replace, remove:
			possible = now != absent
		}
		if possible {
			if next = r.new; r.kind == deleteIf || r.kind == remove {
				next = absent
			}
		}
		if a.unknown {
			return true, next
		}
		return a.done == possible, next
	},
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%+v -> %+v", input, output)
	},
}

// client is one of several clients that use the same documents at the same time.
type client struct {
	s       store.Store
	number  int
	begin   time.Time
	random  *rand.Rand
	history []porcupine.Operation
	next    int32

	// The document that look has read.
	key   int
	old   bson.Raw // nil if there was no document
	value int32
}

// There are fewer documents than clients, so whenever each client has read a document, two of
// them have read the same one.
const clients, keys = 6, 3

// record runs one request and adds it with its answer to the history.
func (c *client) record(r request, work func() (answer, error)) error {
	call := time.Since(c.begin)
	a, err := work()
	end := time.Since(c.begin)
	c.history = append(c.history, porcupine.Operation{ClientId: c.number, Input: r, Call: int64(call), Output: a, Return: int64(end)})
	return err
}

// refusals are the errors which mean that a write was not done.
var refusals = map[kind][]error{
	insertNew: {store.ErrDuplicate},
	replace:   {store.ErrNotFound},
	remove:    {store.ErrNotFound},
	swap:      {store.ErrNotFound, store.ErrConflict},
	deleteIf:  {store.ErrNotFound, store.ErrConflict},
}

// outcome returns the answer to a write from its error.
func (r request) outcome(err error) (answer, error) {
	switch {
	case err == nil:
		return answer{done: true}, nil
	case slices.ContainsFunc(refusals[r.kind], func(refusal error) bool { return errors.Is(err, refusal) }):
		return answer{}, nil
	}
	return answer{unknown: true}, err
}

// fresh returns a value that no client has written before.
func (c *client) fresh() int32 {
	c.next++
	return int32(c.number)<<20 | c.next
}

// look reads the document that change will write.
func (c *client) look(ctx context.Context) (err error) {
	c.key = c.random.IntN(keys)
	c.old, c.value, err = c.read(ctx, c.key)
	return err
}

// change writes the document that look has read, and then reads another document while other
// clients write.
func (c *client) change(ctx context.Context) error {
	if err := c.write(ctx); err != nil {
		return err
	}
	_, _, err := c.read(ctx, c.random.IntN(keys))
	return err
}

func (c *client) write(ctx context.Context) error {
	r := request{key: c.key, old: c.value, new: c.fresh()}
	key := store.IntKey(int64(c.key))
	doc := bson.D{{Key: "_id", Value: key}, {Key: "v", Value: r.new}}
	var do func() error
	switch n := c.random.IntN(20); {
	case c.old == nil:
		r.kind, do = insertNew, func() error { return testenv.ErrOf(c.s.Insert(ctx, "c", doc)) }
	case n == 0:
		r.kind, do = remove, func() error { return c.s.Delete(ctx, "c", key) }
	case n == 1:
		r.kind, do = replace, func() error { return c.s.Replace(ctx, "c", doc) }
	case n == 2:
		r.kind, do = deleteIf, func() error { return deleteOld(ctx, c.s, "c", c.old) }
	case n < 8:
		return c.swapMany(ctx)
	default:
		r.kind, do = swap, func() error { return testenv.ErrOf(c.s.Swap(ctx, "c", c.old, doc)) }
	}
	return c.record(r, func() (answer, error) { return r.outcome(do()) })
}

// read reads one document; it is nil if there is none.
func (c *client) read(ctx context.Context, key int) (doc bson.Raw, value int32, err error) {
	value = absent
	err = c.record(request{key: key}, func() (answer, error) {
		doc, err = c.s.Get(ctx, "c", store.IntKey(int64(key)))
		if errors.Is(err, store.ErrNotFound) {
			return answer{value: absent}, nil
		}
		if err == nil {
			value = doc.Lookup("v").Int32()
		}
		return answer{value: value}, err
	})
	return doc, value, err
}

// swapMany reads all documents and writes them with one call of SwapMany.
func (c *client) swapMany(ctx context.Context) error {
	var swaps []store.Swap
	var requests []request
	for key := range keys {
		doc, value, err := c.read(ctx, key)
		if err != nil {
			return err
		}
		if doc == nil {
			continue
		}
		r := request{key: key, kind: swap, old: value, new: c.fresh()}
		s := store.Swap{Old: doc, New: bson.D{{Key: "_id", Value: int64(key)}, {Key: "v", Value: r.new}}}
		if c.random.IntN(8) == 0 {
			r.kind, s.New = deleteIf, nil
		}
		swaps, requests = append(swaps, s), append(requests, r)
	}
	c.random.Shuffle(len(swaps), func(i, j int) {
		swaps[i], swaps[j] = swaps[j], swaps[i]
		requests[i], requests[j] = requests[j], requests[i]
	})
	call := time.Since(c.begin)
	results, err := c.s.SwapMany(ctx, "c", swaps)
	end := time.Since(c.begin)
	var refused *store.BulkError
	if errors.As(err, &refused) {
		err = nil
		for _, r := range refused.Refused {
			if _, e := requests[r.Index].outcome(r.Err); e != nil {
				err = e
			}
		}
	}
	for i, r := range requests {
		c.history = append(c.history, porcupine.Operation{ClientId: c.number*1000 + i, Input: r, Call: int64(call), Output: answer{done: results != nil && results[i] != nil, unknown: err != nil}, Return: int64(end)})
	}
	return err
}

// testSwapHistories lets several clients write a few documents at the same time, with every
// method, and checks that the history is linearizable. All clients read before any of them
// writes, so that their writes conflict even on a single processor.
func testSwapHistories(t testing.TB, s store.Store) {
	const rounds = 150
	begin := time.Now()
	all := make([]*client, clients)
	for i := range all {
		all[i] = &client{s: s, number: i, begin: begin, random: rand.New(rand.NewPCG(uint64(i), 7))}
	}
	for range rounds {
		for _, step := range []func(*client, context.Context) error{(*client).look, (*client).change} {
			var group sync.WaitGroup
			for _, c := range all {
				group.Go(func() {
					if err := step(c, t.Context()); err != nil {
						t.Errorf("client %d: %v", c.number, err)
					}
				})
			}
			group.Wait()
		}
		if t.Failed() || time.Since(begin) > 3*time.Second { // a slow engine runs fewer rounds
			break
		}
	}
	var history []porcupine.Operation
	for _, c := range all {
		history = append(history, c.history...)
	}
	checkHistory(t, history)
}

// checkHistory fails the test if a history is not linearizable, or contains no refused writes or
// no successful ones.
func checkHistory(t testing.TB, history []porcupine.Operation) {
	t.Helper()
	done, refused := 0, 0
	for _, o := range history {
		if o.Input.(request).kind != read {
			if o.Output.(answer).done {
				done++
			} else {
				refused++
			}
		}
	}
	if done == 0 || refused == 0 {
		t.Errorf("%d writes done and %d refused, want some of each", done, refused)
	}
	switch result := porcupine.CheckOperationsTimeout(registers, history, time.Minute); result {
	case porcupine.Ok:
	case porcupine.Unknown:
		t.Errorf("cannot decide within a minute whether a history of %d operations is linearizable", len(history))
	default:
		t.Errorf("a history of %d operations is not linearizable", len(history))
	}
}
