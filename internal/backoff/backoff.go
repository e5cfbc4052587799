// Package backoff calculates how long to wait before the next attempt after a failure.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff calculates the pause after each failure. The pause begins with First and doubles with
// each failure, up to Max. Only one goroutine at a time may use a Backoff.
type Backoff struct {
	First, Max time.Duration

	pause time.Duration // the last result of Grow
}

// Next returns how long to wait after one more failure: a random time from half of the pause
// to the whole pause, so that clients that failed together do not retry together.
func (b *Backoff) Next() time.Duration { return Spread(b.Grow()) }

// Grow returns the whole pause after one more failure, without randomness.
func (b *Backoff) Grow() time.Duration {
	b.pause = min(max(2*b.pause, b.First), b.Max)
	return b.pause
}

// Reset makes the next pause First again. Call it after a success.
func (b *Backoff) Reset() { b.pause = 0 }

// Spread returns a random duration from half of d to d.
func Spread(d time.Duration) time.Duration { return Between(d/2, d) }

// Between returns a random duration from least to most.
func Between(least, most time.Duration) time.Duration { return least + rand.N(most-least+1) }

// Sleep waits for d and returns nil. If ctx is done earlier, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
