package storelock_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/store"
)

// memory is what the clients of a store have in common: one document.
type memory struct {
	mu  sync.Mutex
	doc bson.Raw
}

// client is a store on a clock of the test. A request takes some time to the document
// and its answer some time back; either may never arrive.
type client struct {
	store.Store
	*memory
	way
	swapped time.Time // when the last Swap began
	gets    int       // calls of Get
}

// way is what happens to requests and answers.
type way struct {
	request, answer          time.Duration
	loseRequests, loseAnswer bool
	unsent                   time.Duration // no request is sent if ctx ends within that time
	fail                     error         // of requests that arrive
	inserts                  time.Duration // how long an Insert takes beside that
}

// change changes the way between two requests.
func (c *client) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

func (c *client) now() (w way) {
	c.change(func() { w = c.way })
	return w
}

// looks returns how often Get was called.
func (c *client) looks() (n int) {
	c.change(func() { n = c.gets })
	return n
}

func (c *client) call(ctx context.Context, do func() error) (err error) {
	if end, limited := ctx.Deadline(); limited && time.Until(end) < c.now().unsent {
		return fmt.Errorf("not sent: %w", context.DeadlineExceeded) // as the driver of MongoDB does
	}
	if err := sleep(ctx, c.now().request); err != nil {
		return err
	}
	if c.now().loseRequests {
		<-ctx.Done()
		return ctx.Err()
	}
	c.change(func() {
		if err = c.fail; err == nil {
			err = do()
		}
	})
	if c.now().loseAnswer {
		<-ctx.Done()
		return ctx.Err()
	}
	return cmp.Or(sleep(ctx, c.now().answer), err)
}

// sleep returns after d, or with an error when ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() == nil && d > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(d):
			return nil
		}
	}
	return ctx.Err()
}

func (c *client) Get(ctx context.Context, _ string, _ store.Key) (doc bson.Raw, err error) {
	err = c.call(ctx, func() error {
		c.gets++
		if doc = c.doc; doc == nil {
			return store.ErrNotFound
		}
		return nil
	})
	return doc, err
}

func (c *client) Insert(ctx context.Context, _ string, doc any) (key store.Key, err error) {
	if err := sleep(ctx, c.now().inserts); err != nil {
		return key, err
	}
	return key, c.call(ctx, func() (err error) {
		if c.doc != nil {
			return store.ErrDuplicate
		}
		c.doc, err = bson.Marshal(doc)
		return err
	})
}

func (c *client) Swap(ctx context.Context, _ string, old bson.Raw, doc any) (stored bson.Raw, err error) {
	c.change(func() { c.swapped = time.Now() })
	err = c.call(ctx, func() (err error) {
		if !bytes.Equal(c.doc, old) {
			return store.ErrConflict
		}
		c.doc, err = bson.Marshal(doc)
		stored = c.doc
		return err
	})
	return stored, err
}

// signaller is a client with signals, which are lost or do not work at all if a test says
// so.
type signaller struct {
	client
	topics map[string]chan struct{} // of all signallers of a memory

	deaf, lost bool
}

func (s *signaller) Signal(topics ...string) {
	s.change(func() {
		for _, t := range topics {
			if c := s.topics[t]; c != nil && !s.lost {
				select {
				case c <- struct{}{}:
				default:
				}
			}
		}
	})
}

func (s *signaller) Listen(topic string) (<-chan struct{}, func() bool, func()) {
	c := make(chan struct{}, 1)
	s.change(func() { s.topics[topic] = c })
	return c, func() bool { return !s.deaf }, func() { s.change(func() { delete(s.topics, topic) }) }
}

const clockTTL = 20 * time.Second

// locker returns a Locker on a client of m that answers at once.
func (m *memory) locker(t *testing.T, o storelock.Options) (*storelock.Locker, *client) {
	c := &client{memory: m}
	o.TTL = clockTTL
	return newLocker(t, c, &o), c
}

// acquire returns a channel for the lease that l gets, which is closed without one.
func acquire(ctx context.Context, t *testing.T, l lock.Locker) chan *lock.Lease {
	got := make(chan *lock.Lease, 1)
	go func() {
		defer close(got)
		ctx, stop := context.WithTimeout(ctx, 10*clockTTL)
		defer stop()
		lease, err := l.Acquire(ctx, "job", nil)
		if err == nil {
			got <- lease
		} else if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	return got
}

// get returns the lease of acquire.
func get(t *testing.T, got chan *lock.Lease) *lock.Lease {
	t.Helper()
	lease := <-got
	if lease == nil {
		t.Fatal("no lease")
	}
	return lease
}
