package door

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// throttle makes those who guess tokens wait, for longer with each wrong one. Clients
// at the same address whose token was right a while ago go on.
type throttle struct {
	mu    sync.Mutex
	wrong map[netip.Addr]*guesses
	right map[[sha256.Size]byte]time.Time // address and token, when they were right
}

// guesses are the wrong tokens from one address.
type guesses struct {
	count int
	last  time.Time
	until time.Time // the next token is looked at
}

const (
	freeGuesses  = 3 // without a delay: people mistype
	firstDelay   = 500 * time.Millisecond
	longestDelay = time.Minute
	forgetAfter  = 10 * time.Minute // without another wrong token
	rightFor     = time.Hour
	maxRemember  = 50_000 // addresses, and right tokens
)

func newThrottle() *throttle {
	return &throttle{wrong: map[netip.Addr]*guesses{}, right: map[[sha256.Size]byte]time.Time{}}
}

// clientOf returns the address of the sender of r, see network.
func clientOf(r *http.Request) netip.Addr {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return network(a.Addr())
}

func rightKey(from netip.Addr, token string) [sha256.Size]byte {
	return sha256.Sum256([]byte(from.String() + "\x00" + token))
}

// wait returns how long to wait before the token of a client is looked at.
func (l *throttle) wait(from netip.Addr, token string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.wrong[from]
	now := time.Now()
	if g == nil || !now.Before(g.until) {
		return 0
	}
	if at, ok := l.right[rightKey(from, token)]; ok && now.Sub(at) < rightFor {
		return 0
	}
	return g.until.Sub(now)
}

// note remembers whether the token of a client was right. It returns how many were
// wrong.
func (l *throttle) note(from netip.Addr, token string, right bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if right {
		if len(l.right) >= maxRemember {
			clear(l.right)
		}
		l.right[rightKey(from, token)] = now
		return 0
	}
	if len(l.wrong) >= maxRemember {
		l.forget(now)
	}
	g := l.wrong[from]
	if g == nil || now.Sub(g.last) > forgetAfter {
		g = &guesses{}
		l.wrong[from] = g
	}
	g.count++
	g.last = now
	if g.count > freeGuesses {
		g.until = now.Add(min(firstDelay<<min(g.count-freeGuesses-1, 20), longestDelay))
	}
	return g.count
}

// forget removes the addresses of which nothing wrong came for a while, or if there
// are none all that may send again.
func (l *throttle) forget(now time.Time) {
	for _, old := range []func(*guesses) bool{
		func(g *guesses) bool { return now.Sub(g.last) > forgetAfter },
		func(g *guesses) bool { return now.After(g.until) },
		func(*guesses) bool { return true },
	} {
		for a, g := range l.wrong {
			if old(g) {
				delete(l.wrong, a)
			}
		}
		if len(l.wrong) < maxRemember {
			return
		}
	}
}
