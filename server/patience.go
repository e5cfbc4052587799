package server

import (
	"context"
	"log/slog"
	"time"
)

// caller calls something that may hang, such as a store, on behalf of clients.
type caller struct {
	what   string        // for the log
	limit  time.Duration // for one call
	slots  chan struct{} // one for each call in flight, also those that nobody waits for
	log    *slog.Logger
	silent error // the answer in place of a failure; for clients
}

// callWithin calls do. It returns at the latest when parent ends or the limit has passed,
// even if do hangs. Its errors are those of isAnswer, or c.silent; name is for the log.
func callWithin[T any](parent context.Context, c *caller, name string, do func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, cancel := context.WithTimeout(parent, c.limit)
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		cancel()
		return none, c.silent
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		defer cancel()
		defer func() { <-c.slots }()
		value, err := do(ctx)
		answered <- answer{value, err}
	}()
	var a answer
	select {
	case a = <-answered:
	case <-ctx.Done():
		a.err = ctx.Err()
		select {
		case a = <-answered: // the end of the call has ended ctx
		default:
		}
	}
	if a.err == nil || isAnswer(a.err) {
		return a.value, a.err
	}
	if parent.Err() == nil { // otherwise the client has disconnected
		c.log.LogAttrs(parent, slog.LevelWarn, c.what, slog.String("call", name), slog.Any("error", a.err))
	}
	return none, c.silent
}
