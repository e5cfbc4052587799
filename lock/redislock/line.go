package redislock

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/lock"
)

// line is what one process knows of its own waiters and holders, and the one
// subscription by which waiters are told that their turn has come.
type line struct {
	channel string

	mu      sync.Mutex
	waiting map[string]chan value // by owner; gets what the lock is now, or a zero value to ask again
	holding map[string]struct{}   // owners that have leases
	started bool                  // the subscription is, or is being made
	up      bool                  // messages come in
	err     error                 // why the last subscription ended
	changed chan struct{}         // closed when up or err changes
}

func (n *line) init(channel string) {
	n.channel = channel
	n.waiting = make(map[string]chan value)
	n.holding = make(map[string]struct{})
	n.changed = make(chan struct{})
}

// join makes owner a waiter.
func (n *line) join(owner string) <-chan value {
	woken := make(chan value, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting[owner] = woken
	return woken
}

// holds makes owner a holder.
func (n *line) holds(owner string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.waiting, owner)
	n.holding[owner] = struct{}{}
}

// leave forgets owner.
func (n *line) leave(owner string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.waiting, owner)
	delete(n.holding, owner)
}

// listening reports whether messages come in.
func (n *line) listening() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}

// set records that the subscription was made or has ended.
func (n *line) set(up bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up, n.err = up, err
	close(n.changed)
	n.changed = make(chan struct{})
	if !up {
		return
	}
	// What was published until now is lost.
	for _, woken := range n.waiting {
		select {
		case woken <- value{}:
		default: // it has something to look at already
		}
	}
}

// listen returns when messages come in, or will for all that one can know: a
// network that is broken is not an error. It starts the subscription.
func (l *Locker) listen(ctx context.Context) error {
	for {
		l.line.mu.Lock()
		up, err, changed := l.line.up, l.line.err, l.line.changed
		if !l.line.started {
			l.line.started = true
			l.calls.Go(l.subscribe)
		}
		l.line.mu.Unlock()
		switch {
		case up:
			return nil
		case err != nil && permanent(err):
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-l.closing.Done():
			return rueidis.ErrClosing
		}
	}
}

// subscribe keeps the subscription alive until Close.
func (l *Locker) subscribe() {
	pause := minPause
	ctx := rueidis.WithOnSubscriptionHook(l.closing, func(s rueidis.PubSubSubscription) {
		if s.Kind == "subscribe" {
			pause = minPause
			l.line.set(true, nil)
		}
	})
	for {
		err := l.client.Receive(ctx, l.client.B().Subscribe().Channel(l.line.channel).Build(), l.deliver)
		l.line.set(false, err)
		select {
		case <-time.After(pause):
			pause = min(2*pause, maxPause)
		case <-l.closing.Done():
			ctx, cancel := context.WithTimeout(context.Background(), l.try)
			defer cancel()
			l.client.Do(ctx, l.client.B().Unsubscribe().Channel(l.line.channel).Build())
			return
		}
	}
}

// deliver tells a waiter that the lock is its own now. If there is no such
// waiter any more, the lock goes on to the next.
func (l *Locker) deliver(m rueidis.PubSubMessage) {
	text, key, _ := strings.Cut(m.Message, " "+keyPrefix)
	v, err := parseValue(text)
	if err != nil {
		return // nothing of ours
	}
	if l.line.deliver(v) {
		return
	}
	if owner, err := lock.ParseOwner(v.owner); err == nil && l.begin() == nil {
		name := strings.TrimSuffix(key, keySuffix)
		r := &request{l: l, name: name, keys: keys(name), owner: owner, text: v.owner, fence: v.fence}
		go func() {
			defer l.calls.Done()
			_, _, _ = r.release()
		}()
	}
}

// deliver reports whether the owner of v waits for the lock or has it already,
// and tells it in the first case.
func (n *line) deliver(v value) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	woken, waits := n.waiting[v.owner]
	_, holds := n.holding[v.owner]
	if waits {
		select {
		case <-woken: // an older wish that it ask again
		default:
		}
		woken <- v
	}
	return waits || holds
}
