package door

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// uploads are the running ones. They bound how many there are, in all and from one
// client, and let slow ones give way to those that wait.
type uploads struct {
	most int

	mu      sync.Mutex
	running map[*Upload]struct{}
	freed   chan struct{} // closed when a place is free; nil if nobody waits
}

func newUploads(most int) *uploads { return &uploads{most: most, running: map[*Upload]struct{}{}} }

// Uploads that others wait for.
const (
	fewUploads    = 2               // that one client may send where there are not more than twice as many places
	goodRate      = 1 << 20         // bytes per second; a slower one gives way
	goodRateAfter = 5 * time.Second // when its rate is known: the Retry-After of those that are refused
)

// perAddress returns how many places one client may take: half of them.
func (l *uploads) perAddress() int { return max(fewUploads, l.most/2) }

// from returns how many places a client has. The lock must be held.
func (l *uploads) from(a netip.Addr) (n int) {
	for u := range l.running {
		if u.from == a {
			n++
		}
	}
	return n
}

// take takes a place for u, and reports whether it got one. If there is none, another
// upload may end for it, and take waits up to patience.
func (l *uploads) take(ctx context.Context, u *Upload, patience time.Duration) bool {
	for end := time.After(patience); ; {
		l.mu.Lock()
		own := u.from.IsValid() && l.from(u.from) >= l.perAddress()
		if len(l.running) < l.most && !own {
			u.began = time.Now()
			l.running[u] = struct{}{}
			l.mu.Unlock()
			return true
		}
		if l.freed == nil {
			l.freed = make(chan struct{})
		}
		freed := l.freed
		waits := l.endSlowest(u.from, own)
		l.mu.Unlock()
		if !waits {
			return false
		}
		select {
		case <-freed:
		case <-end:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// endSlowest ends the slowest upload that gives way to one from an address: one of the
// same address if own is set. It reports whether there was one. The lock must be held.
func (l *uploads) endSlowest(from netip.Addr, own bool) bool {
	var slowest *Upload
	var least float64
	for u := range l.running {
		rate, known := u.rate()
		several := u.from != from && u.from.IsValid() && l.from(u.from) > 1 // its client goes on with another
		switch {
		case own && u.from != from, !known, rate >= goodRate && !several, slowest != nil && rate >= least:
		default:
			slowest, least = u, rate
		}
	}
	if slowest == nil {
		return false
	}
	slowest.stop(ErrSlowest)
	return true
}

// rate returns in bytes per second how u arrives, if it has lasted long enough to tell
// and is not complete.
func (u *Upload) rate() (rate float64, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	age := time.Since(u.began)
	return float64(u.read) / age.Seconds(), !u.whole && age > goodRateAfter
}

// give gives the place of u back.
func (l *uploads) give(u *Upload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, u)
	if l.freed != nil {
		close(l.freed)
		l.freed = nil
	}
}
