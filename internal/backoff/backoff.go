// Package backoff says how long to wait before something that failed is tried again.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff is the pause between attempts that fail. It doubles with each of them, from First
// up to Max.
type Backoff struct {
	First, Max time.Duration

	pause time.Duration // the last one without its random part
}

// Next returns how long to wait after one more failure: from half of the pause to all of it,
// so that those that failed together do not come back together.
func (b *Backoff) Next() time.Duration { return Spread(b.Grow()) }

// Grow returns the pause after one more failure without a random part.
func (b *Backoff) Grow() time.Duration {
	b.pause = min(max(2*b.pause, b.First), b.Max)
	return b.pause
}

// Reset makes the next pause the first.
func (b *Backoff) Reset() { b.pause = 0 }

// Spread returns a random time from half of d to d.
func Spread(d time.Duration) time.Duration { return Between(d/2, d) }

// Between returns a random time from least to most.
func Between(least, most time.Duration) time.Duration { return least + rand.N(most-least+1) }

// Sleep returns nil after d, or the error of ctx if that ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
