package client

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Bounds of the calls that are made in the background.
const (
	shortestCall = 3 * time.Second  // the least that a call may take until it has failed
	longestCall  = 10 * time.Second // a server answers within half of that
	lastCall     = 5 * time.Second  // of the report of the end
	firstPause   = time.Second      // after a call that failed; it doubles with each further one
	longestPause = time.Minute
)

// backoff is the pause after calls that failed, without its random part.
type backoff time.Duration

// after returns how long to wait after err: twice as long as after the error before, as
// long as the server asks for, and not much more than longest. Clients that failed
// together do not come back together.
func (b *backoff) after(err error, longest time.Duration) time.Duration {
	*b = backoff(min(max(2*time.Duration(*b), firstPause), longest))
	pause := time.Duration(*b)
	if problem, ok := errors.AsType[*Error](err); ok {
		pause = max(pause, min(problem.RetryAfter, longest))
	}
	return pause + rand.N(pause/4)
}
