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

	mu        sync.Mutex
	taken     int                // places
	byAddress map[netip.Addr]int // places
	running   map[*Upload]struct{}
	freed     chan struct{} // closed when a place is free; nil if nobody waits
}

func newUploads(most int) *uploads {
	return &uploads{most: most, byAddress: map[netip.Addr]int{}, running: map[*Upload]struct{}{}}
}

// Uploads that others wait for.
const (
	fewUploads    = 2               // that one client may send where there are not more than twice as many places
	goodRate      = 1 << 20         // bytes per second; a slower one gives way
	goodRateAfter = 5 * time.Second // when its rate is known: the Retry-After of those that are refused
)

// perAddress returns how many places one client may take: half of them.
func (l *uploads) perAddress() int { return max(fewUploads, l.most/2) }

// take takes a place for an upload from an address, and reports whether it got one. If
// there is none, another upload may end for it, and take waits up to patience.
func (l *uploads) take(ctx context.Context, from netip.Addr, patience time.Duration) bool {
	for end := time.After(patience); ; {
		l.mu.Lock()
		own := from.IsValid() && l.byAddress[from] >= l.perAddress()
		if l.taken < l.most && !own {
			l.taken++
			l.byAddress[from]++
			l.mu.Unlock()
			return true
		}
		if l.freed == nil {
			l.freed = make(chan struct{})
		}
		freed := l.freed
		waits := l.endSlowest(from, own)
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
		several := u.from != from && u.from.IsValid() && l.byAddress[u.from] > 1 // its client goes on with another
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

// add says that u has the place that was taken.
func (l *uploads) add(u *Upload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[u] = struct{}{}
}

// give gives the place of u back.
func (l *uploads) give(u *Upload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, u)
	l.taken--
	if l.byAddress[u.from]--; l.byAddress[u.from] == 0 {
		delete(l.byAddress, u.from)
	}
	if l.freed != nil {
		close(l.freed)
		l.freed = nil
	}
}
