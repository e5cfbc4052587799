package pgstore

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel returns the name of the channel on which the writers of a schema notify
// its watchers. A message is the digest of a topic: the name of a collection that has
// new documents, or that of a [store.Signaler] after a NUL, which no collection has.
func (s *Store) channel() string { return "oid_" + digest(s.schema) }

// topic returns a topic of a [store.Signaler] as it is announced.
func topic(signal string) string { return "\x00" + signal }

// Signal notifies those that listen, see [store.Signaler].
func (s *Store) Signal(topics ...string) {
	for _, t := range topics {
		s.announcer.announce(topic(t), true)
	}
}

// Listen makes a listener of notifications, see [store.Signaler].
func (s *Store) Listen(signal string) (signals <-chan struct{}, works func() bool, stop func()) {
	signals, stop = s.listener.listen(topic(signal))
	return signals, s.listener.works, stop
}

// listener wakes the calls of Watch, and those that listen for signals, when a writer has
// notified them. It has a connection of its own while there are any, and for listenIdle.
// What it says is a hint: one that is not woken looks by itself after some time.
type listener struct {
	s      *Store
	config *pgx.ConnConfig
	up     atomic.Bool

	mu       sync.Mutex
	watchers map[chan struct{}]string // the digest of the topic of each
	stop     context.CancelFunc       // ends run; nil if it does not run
	running  sync.WaitGroup
}

func (l *listener) start(s *Store, config *pgx.ConnConfig) {
	l.s, l.config, l.watchers = s, config, map[chan struct{}]string{}
}

// works reports whether notifications arrive.
func (l *listener) works() bool { return l.up.Load() }

// listen returns a channel that gets a value when a topic was announced, and the
// function that ends this.
func (l *listener) listen(topic string) (news <-chan struct{}, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{}, 1)
	l.watchers[c] = digest(topic)
	if l.stop == nil && l.s.direct && !l.s.life.Ended() {
		ctx, cancel := context.WithCancel(context.Background())
		l.stop = cancel
		l.running.Go(func() { l.run(ctx) })
	}
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if delete(l.watchers, c); len(l.watchers) == 0 {
			time.AfterFunc(listenIdle, l.stopIfIdle)
		}
	}
}

// listenIdle is how long the connection outlives those that listened: the next ones
// often come soon, as those that wait for a lock do.
const listenIdle = 10 * time.Second

// stopIfIdle ends the connection if nobody listens.
func (l *listener) stopIfIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.watchers) == 0 {
		l.end()
	}
}

// end ends run. It is called with mu held.
func (l *listener) end() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
		l.up.Store(false)
	}
}

// set records whether notifications arrive at a run that has ctx, and wakes all. A run
// that was ended has no say: another may have begun.
func (l *listener) set(ctx context.Context, up bool) {
	l.mu.Lock()
	if ctx.Err() == nil {
		l.up.Store(up)
	}
	l.mu.Unlock()
	l.wake("") // something may have come before
}

// wake wakes those who wait for a message, or all if it is empty.
func (l *listener) wake(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c, waitsFor := range l.watchers {
		if message == "" || message == waitsFor {
			select {
			case c <- struct{}{}:
			default: // it will wake anyway
			}
		}
	}
}

// run listens until ctx ends, on one connection after another.
func (l *listener) run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		l.receive(ctx)
		l.set(ctx, false)
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(began.Add(time.Second))):
		}
	}
}

// receive listens on one connection until that fails.
func (l *listener) receive(ctx context.Context) {
	c, err := pgx.ConnectConfig(ctx, l.config.Copy())
	if err != nil {
		return
	}
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(ctx, "LISTEN "+pgx.Identifier{l.s.channel()}.Sanitize()); err != nil {
		return
	}
	l.set(ctx, true)
	for {
		message, err := c.WaitForNotification(ctx)
		if err != nil {
			return
		}
		l.wake(message.Payload)
	}
}

func (l *listener) close() {
	l.mu.Lock()
	l.end()
	l.mu.Unlock()
	l.wake("")
	l.running.Wait()
}

// announceEvery is how often a writer notifies of new documents at most. Notifications
// wait for one another when they are committed, so they are not part of the inserts.
const announceEvery = 20 * time.Millisecond

// announcer notifies watchers of what this Store has inserted, and sends its signals.
type announcer struct {
	s       *Store
	closing chan struct{}
	urgent  chan struct{} // gets a value when what is pending should not wait

	mu      sync.Mutex
	pending map[string]bool // topics
	sending bool
	last    time.Time
	running sync.WaitGroup
}

func (a *announcer) start(s *Store) {
	a.s, a.closing, a.urgent, a.pending = s, make(chan struct{}), make(chan struct{}, 1), map[string]bool{}
}

// announce notifies those that listen for a topic, at once or within announceEvery.
func (a *announcer) announce(topic string, now bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending[topic] = true
	if now {
		select {
		case a.urgent <- struct{}{}:
		default: // it is urgent already
		}
	}
	if !a.sending && !a.s.life.Ended() {
		a.sending = true
		a.running.Go(a.send)
	}
}

// send notifies until nothing is pending.
func (a *announcer) send() {
	for {
		a.mu.Lock()
		wait := time.Until(a.last.Add(announceEvery))
		a.mu.Unlock()
		select {
		case <-a.closing:
		case <-a.urgent:
		case <-time.After(wait):
		}
		a.mu.Lock()
		pending := a.pending
		a.pending, a.last = map[string]bool{}, time.Now()
		if len(pending) == 0 {
			a.sending = false
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		// It need not survive a crash, and must not wait for a standby.
		var text strings.Builder
		text.WriteString("BEGIN; SET LOCAL synchronous_commit = off;")
		for topic := range pending {
			text.WriteString(" NOTIFY " + a.s.channel() + ", '" + digest(topic) + "';")
		}
		ctx, stop := context.WithTimeout(context.Background(), closeTime)
		_, _ = a.s.pool.Exec(ctx, text.String()+" COMMIT", pgx.QueryExecModeSimpleProtocol) // a hint that may get lost
		stop()
	}
}

// close sends what is pending.
func (a *announcer) close() {
	a.mu.Lock()
	if a.closing == nil { // Open has failed
		a.mu.Unlock()
		return
	}
	close(a.closing)
	a.mu.Unlock()
	a.running.Wait()
}
