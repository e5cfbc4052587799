package store

import (
	"context"
	"time"
)

// Signaler is an engine whose users can wake each other, in whatever processes they are,
// so that one that waits for a document need not read it again and again. Signals are
// hints: one may get lost, or come though nobody sent it. [SignalerOf] returns the
// Signaler of a Store.
type Signaler interface {
	// Signal wakes those that listen for one of the topics, which are any texts, soon
	// after it returns. They see what the caller has written before.
	Signal(topics ...string)

	// Listen returns a channel of one place that gets a value for each Signal with the
	// topic, until stop is called. works reports whether signals arrive now; when that
	// changes, a value comes too.
	Listen(topic string) (signals <-chan struct{}, works func() bool, stop func())
}

// SignalerOf returns the Signaler of s, or nil if its engine has none or s is a store of
// [OpenLater] that is not open.
func SignalerOf(s Store) Signaler {
	switch s := s.(type) {
	case later:
		if opened := s.store.Load(); opened != nil {
			return SignalerOf(s.as(*opened))
		}
	case Signaler:
		return s
	}
	return nil
}

// Linearizable returns s with the strongest guarantees that its engine has, for
// processes that coordinate through a store: a read sees every write that returned
// before, and a write that returned survives the loss of a server. What a URL says
// of this, to read from a replica that lags behind for example, is for other uses.
// An engine that always has these guarantees returns s itself. Closing the result
// closes s.
func Linearizable(s Store) Store {
	if s, ok := s.(interface{ Linearizable() Store }); ok {
		return s.Linearizable()
	}
	return s
}

// Now returns the time by the clock of the server of s, so that programs on several
// machines agree on it, or by the clock of this machine if s has no server.
func Now(ctx context.Context, s Store) (time.Time, error) {
	if s, ok := s.(interface {
		Now(ctx context.Context) (time.Time, error)
	}); ok {
		return s.Now(ctx)
	}
	return time.Now(), nil
}
