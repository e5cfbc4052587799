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

// channel returns the name of the PostgreSQL channel for the signals of the schema. The
// payload of each notification is the digest of a topic.
func (s *database) channel() string { return "oid_" + digest(s.schema) }

// Signal implements [store.Signaler].
func (s *Store) Signal(topics ...string) { s.db.announcer.announce(topics) }

// Listen implements [store.Signaler].
func (s *Store) Listen(topic string) (signals <-chan struct{}, works func() bool, stop func()) {
	l := &s.db.listener
	l.begin.Do(func() {
		if s.db.direct {
			l.running.Go(l.run)
		}
	})
	signals, stop = l.waiting.Add(digest(topic))
	return signals, l.up.Load, stop
}

// listener receives signals and wakes the listeners of this process. It has a connection of its
// own, from the first call of Listen until Close.
type listener struct {
	s       *database
	config  *pgx.ConnConfig
	up      atomic.Bool // whether notifications arrive
	waiting engine.Listeners

	begin   sync.Once // starts run
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	lose    atomic.Pointer[context.CancelFunc] // ends the connection; nil before run
}

func (l *listener) start(s *database, config *pgx.ConnConfig) {
	l.s, l.config = s, config
	l.life, l.end = context.WithCancel(context.Background())
}

// run listens until Close. When a connection is lost, it opens another one.
func (l *listener) run() {
	for l.life.Err() == nil {
		began := time.Now()
		ctx, lose := context.WithCancel(l.life)
		l.lose.Store(&lose)
		l.receive(ctx)
		lose()
		l.up.Store(false)
		l.waiting.Wake("") // tell listeners that no signals arrive now
		select {
		case <-l.life.Done():
		case <-time.After(time.Until(began.Add(time.Second))):
		}
	}
}

// restart opens another connection instead of the current one.
func (l *listener) restart() {
	if lose := l.lose.Load(); lose != nil {
		(*lose)()
	}
}

// receive listens on one connection until it is lost or ctx is done.
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
	l.waiting.Wake("") // signals may have been lost before
	for {
		message, err := c.WaitForNotification(ctx)
		if err != nil {
			return
		}
		l.waiting.Wake(message.Payload)
	}
}

func (l *listener) close() {
	if l.end == nil { // Open failed before start
		return
	}
	l.begin.Do(func() {})
	l.end()
	l.waiting.Wake("")
	l.running.Wait()
}

// announcer sends the signals of a Store in the background.
type announcer struct {
	s       *database
	sending sync.Mutex // held while send runs

	mu      sync.Mutex
	pending map[string]bool // topics to be sent; nil if there are none
}

// announce sends topics soon. Topics that are announced while send runs are sent together.
func (a *announcer) announce(topics []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending == nil {
		a.pending = map[string]bool{}
		go a.send()
	}
	for _, topic := range topics {
		a.pending[topic] = true
	}
}

// send sends the pending topics in one transaction.
func (a *announcer) send() {
	a.sending.Lock()
	defer a.sending.Unlock()
	a.mu.Lock()
	pending := a.pending
	a.pending = nil
	a.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	// The transaction need not survive a crash, and must not wait for a standby.
	var text strings.Builder
	text.WriteString("BEGIN; SET LOCAL synchronous_commit = off;")
	for topic := range pending {
		text.WriteString(" NOTIFY " + a.s.channel() + ", '" + digest(topic) + "';")
	}
	ctx, stop := context.WithTimeout(context.Background(), closeTime)
	defer stop()
	_, _ = a.s.pool.Exec(ctx, text.String()+" COMMIT", pgx.QueryExecModeSimpleProtocol) // no error: a signal may get lost
}
