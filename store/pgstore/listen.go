package pgstore

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/store/internal/engine"
)

// channel returns the name of the channel on which the writers of a schema notify
// its watchers. A message is the digest of a topic: the name of a collection that has
// new documents, or that of a [store.Signaler] after a NUL, which no collection has.
func (s *database) channel() string { return "oid_" + digest(s.schema) }

// topicOf returns a topic of a [store.Signaler] as it is announced.
func topicOf(signal string) string { return "\x00" + signal }

// Signal notifies those that listen, see [store.Signaler].
func (s *Store) Signal(topics ...string) {
	for _, t := range topics {
		s.db.announcer.announce(topicOf(t), true)
	}
}

// Listen makes a listener of notifications, see [store.Signaler].
func (s *Store) Listen(signal string) (signals <-chan struct{}, works func() bool, stop func()) {
	signals, stop = s.db.listener.listen(topicOf(signal))
	return signals, s.db.listener.up.Load, stop
}

// listener wakes the calls of Watch, and those that listen for signals, when a writer has
// notified them. It has a connection of its own from the first of them until Close.
// What it says is a hint: one that is not woken looks by itself after some time.
type listener struct {
	s       *database
	config  *pgx.ConnConfig
	up      atomic.Bool // notifications arrive
	waiting engine.Listeners

	begin   sync.Once // of run
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup
}

func (l *listener) start(s *database, config *pgx.ConnConfig) {
	l.s, l.config = s, config
	l.life, l.end = context.WithCancel(context.Background())
}

// listen returns a channel that gets a value when a topic was announced, and the
// function that ends this.
func (l *listener) listen(topic string) (news <-chan struct{}, stop func()) {
	l.begin.Do(func() {
		if l.s.direct {
			l.running.Go(l.run)
		}
	})
	return l.waiting.Add(digest(topic))
}

// run listens until Close, on one connection after another.
func (l *listener) run() {
	for l.life.Err() == nil {
		began := time.Now()
		l.receive(l.life)
		l.up.Store(false)
		l.waiting.Wake("") // they look more often now
		select {
		case <-l.life.Done():
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
	l.up.Store(true)
	l.waiting.Wake("") // something may have come before
	for {
		message, err := c.WaitForNotification(ctx)
		if err != nil {
			return
		}
		l.waiting.Wake(message.Payload)
	}
}

func (l *listener) close() {
	if l.end == nil { // Open has failed
		return
	}
	l.begin.Do(func() {})
	l.end()
	l.waiting.Wake("")
	l.running.Wait()
}

// announceEvery is how often a writer notifies of new documents at most. Notifications
// wait for one another when they are committed, so they are not part of the inserts.
const announceEvery = 20 * time.Millisecond

// announcer notifies watchers of what this Store has inserted, and sends its signals.
type announcer struct {
	s       *database
	sending sync.Mutex // one at a time

	mu      sync.Mutex
	pending map[string]bool // topics
	timer   *time.Timer     // of the next send; nil if there is none
	last    time.Time
}

// announce notifies those that listen for a topic, at once or within announceEvery.
func (a *announcer) announce(topic string, now bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending == nil {
		a.pending = map[string]bool{}
	}
	a.pending[topic] = true
	wait := time.Until(a.last.Add(announceEvery))
	if now {
		wait = 0
	}
	if a.timer == nil {
		a.timer = time.AfterFunc(wait, a.send)
	} else if now {
		a.timer.Reset(0)
	}
}

// send notifies of what is pending.
func (a *announcer) send() {
	a.sending.Lock()
	defer a.sending.Unlock()
	a.mu.Lock()
	pending := a.pending
	a.pending, a.timer, a.last = nil, nil, time.Now()
	a.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	// It need not survive a crash, and must not wait for a standby.
	var text strings.Builder
	text.WriteString("BEGIN; SET LOCAL synchronous_commit = off;")
	for topic := range pending {
		text.WriteString(" NOTIFY " + a.s.channel() + ", '" + digest(topic) + "';")
	}
	ctx, stop := context.WithTimeout(context.Background(), closeTime)
	defer stop()
	_, _ = a.s.pool.Exec(ctx, text.String()+" COMMIT", pgx.QueryExecModeSimpleProtocol) // a hint that may get lost
}
