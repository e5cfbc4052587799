package store

import (
	"context"
	"time"
)

// Signaler sends signals between all programs and goroutines that have the same database open.
// With signals, a program that waits for a change of a document does not have to poll.
// Signals are hints: a signal may get lost, and a listener may be woken although nobody sent
// a signal. [SignalerOf] returns the Signaler of a [Store].
type Signaler interface {
	// Signal wakes all listeners for the topics, which may be any strings. It does not
	// wait until they are woken. A listener that is woken can read everything that the
	// caller of Signal had written before the call.
	Signal(topics ...string)

	// Listen listens for signals with the topic until stop is called. After each signal, the
	// channel signals receives a value. The channel's buffer holds one value, so several
	// signals may arrive as one value. works reports whether signals can currently arrive.
	// The channel also receives a value when the result of works changes.
	Listen(topic string) (signals <-chan struct{}, works func() bool, stop func())
}

// SignalerOf returns the Signaler of s. It returns nil if the engine of s has no signals, or if
// s was returned by [OpenLater] and is not open yet.
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

// Linearizable returns a view of s with the strongest guarantees of its engine, for
// processes that coordinate with each other through the store. A read sees every write that
// returned before the read began, and a write that has returned survives the loss of a server.
// Options in the URL that weaken this, such as reading from a replica, are ignored. If s
// already has these guarantees, Linearizable returns s itself. Closing the result closes s.
func Linearizable(s Store) Store {
	if s, ok := s.(interface{ Linearizable() Store }); ok {
		return s.Linearizable()
	}
	return s
}

// Now returns the current time by the clock of the database server of s, so that programs on
// several machines use the same clock. If s has no server, Now returns the time of this machine.
func Now(ctx context.Context, s Store) (time.Time, error) {
	if s, ok := s.(interface {
		Now(ctx context.Context) (time.Time, error)
	}); ok {
		return s.Now(ctx)
	}
	return time.Now(), nil
}
