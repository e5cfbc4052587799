package door

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// minToken is the number of characters that make a token hard to guess.
const minToken = 16

// ErrToken is wrapped by the errors of [New] and [Door.Listen] for a missing token or
// one that is too short.
var ErrToken = errors.New("server: token")

// Token permits its bearer to use the server.
type Token struct {
	Name     string // for the log
	Value    string // at least 16 characters
	ReadOnly bool   // permits looking, but neither new ids nor changes to the registry
}

// checkTokens returns an error for tokens that are short or have one name.
func checkTokens(all []Token) error {
	names, values := map[string]bool{}, map[string]bool{}
	for _, t := range all {
		switch {
		case len(t.Value) < minToken:
			return fmt.Errorf("%w of %d characters, want %d or more", ErrToken, len(t.Value), minToken)
		case names[t.Name]:
			return fmt.Errorf("%w: two have the name %q", ErrToken, t.Name)
		case values[t.Value]:
			return fmt.Errorf("%w: two are the same", ErrToken)
		}
		names[t.Name], values[t.Value] = true, true
	}
	return nil
}

// tokenFor returns the token with a value, or nil. It takes the same time for all
// values of a length.
func (d *Door) tokenFor(value string) *Token {
	var found *Token
	given := sha256.Sum256([]byte(value)) // of one length, whatever that of value is
	for i := range d.options.Tokens {
		t := &d.options.Tokens[i]
		if sum := sha256.Sum256([]byte(t.Value)); subtle.ConstantTimeCompare(given[:], sum[:]) == 1 {
			found = t
		}
	}
	return found
}

// HasTokens reports whether the server requires a token.
func (d *Door) HasTokens() bool { return len(d.options.Tokens) > 0 }

// bearer returns the token in the Authorization header of r.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}

// authorize returns nil if r carries a token, or the cookie of a login, that permits
// access.
func (d *Door) authorize(r *http.Request, access Access) error {
	if !d.HasTokens() {
		return nil
	}
	var t *Token
	if value, ok := bearer(r); ok {
		var err error
		if t, err = d.tryToken(r, value); err != nil {
			return err
		}
	} else {
		t = d.sessionOf(r)
	}
	switch {
	case t == nil:
		return ErrNoToken
	case t.ReadOnly && access < Read:
		return fmt.Errorf("the token %q is for reading only; %w", t.Name, ErrReadOnly)
	}
	return nil
}

// TokenOf returns the token by which r was permitted, or nil on a server without.
func (d *Door) TokenOf(r *http.Request) *Token {
	if value, ok := bearer(r); ok {
		return d.tokenFor(value)
	}
	return d.sessionOf(r)
}

// tryToken returns the token with a value, or nil if there is none. After several wrong
// ones from the address of r the error is a [*WaitError] instead.
func (d *Door) tryToken(r *http.Request, value string) (t *Token, err error) {
	from := clientOf(r)
	right, wait, wrong := d.throttle.try(from, value, func() bool {
		t = d.tokenFor(value)
		return t != nil
	})
	switch {
	case wait > 0:
		return nil, &WaitError{wait}
	case !right:
		d.options.Log.LogAttrs(r.Context(), slog.LevelWarn, "wrong token", slog.String("from", addressText(from)), slog.Int("wrong", wrong), slog.String("request", RequestID(r.Context())))
	}
	return t, nil
}

// addressText writes the address of a client for the log.
func addressText(a netip.Addr) string {
	if !a.IsValid() {
		return "a Unix socket"
	}
	if a.Is6() {
		return a.String() + "/64"
	}
	return a.String()
}

// throttle makes those who guess tokens wait, for longer with each wrong one. A right
// token passes all the same: tokens are compared while their address has to wait, too, up
// to a rate that is far too low for guessing. Those that were right at the same address
// a while ago are compared at any rate, until very many wrong ones have come.
type throttle struct {
	mu    sync.Mutex
	wrong map[netip.Addr]*guesses
	right map[[sha256.Size]byte]time.Time // address and token, when they were right
}

// guesses are the wrong tokens from one address.
type guesses struct {
	count  int // that made the wait longer
	last   time.Time
	until  time.Time // others are answered with a WaitError
	second window    // that were compared
	hour   window    // all
}

// window counts events in one time of a fixed length after another.
type window struct {
	end time.Time
	n   int
}

// add counts one more at a time, and returns how many there were in this window.
func (w *window) add(now time.Time, length time.Duration) int {
	if now.After(w.end) {
		*w = window{end: now.Add(length)}
	}
	w.n++
	return w.n
}

const (
	freeGuesses  = 3 // without a delay: people mistype
	firstDelay   = 500 * time.Millisecond
	longestDelay = time.Minute
	forgetAfter  = 10 * time.Minute // without another wrong token
	rightFor     = time.Hour
	maxRemember  = 50_000 // addresses, and right tokens

	// Wrong tokens from one address. A program with an old token sends some in each
	// second; at 20, trying one in a million of the shortest tokens of digits takes
	// fifteen years.
	looksPerSecond = 20
	guessesPerHour = 1_000_000
)

func newThrottle() *throttle {
	return &throttle{wrong: map[netip.Addr]*guesses{}, right: map[[sha256.Size]byte]time.Time{}}
}

// clientOf returns the address of the sender of r, see network.
func clientOf(r *http.Request) netip.Addr {
	a, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero Addr at a Unix socket
	return network(a.Addr())
}

func rightKey(from netip.Addr, token string) [sha256.Size]byte {
	return sha256.Sum256([]byte(from.String() + "\x00" + token))
}

// try compares the token of a client by isRight, unless its address has sent too many
// wrong ones. For wrong ones it returns how long to wait for the next, or 0 and how many
// there were.
func (l *throttle) try(from netip.Addr, token string, isRight func() bool) (right bool, wait time.Duration, wrong int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	g, key := l.wrong[from], rightKey(from, token)
	if g == nil || now.Sub(g.last) > forgetAfter || l.mayLook(g, key, now) {
		if isRight() {
			if len(l.right) >= maxRemember {
				clear(l.right)
			}
			l.right[key] = now
			return true, 0, 0
		}
	}
	if g == nil || now.Sub(g.last) > forgetAfter {
		if len(l.wrong) >= maxRemember {
			l.forget(now)
		}
		g = &guesses{}
		l.wrong[from] = g
	}
	g.second.add(now, time.Second)
	g.hour.add(now, time.Hour)
	if now.Before(g.until) {
		return false, g.until.Sub(now), 0
	}
	g.count++
	g.last = now
	if g.count > freeGuesses {
		g.until = now.Add(min(firstDelay<<min(g.count-freeGuesses-1, 20), longestDelay))
	}
	return false, 0, g.count
}

// mayLook reports whether a token is compared although its address has sent wrong ones.
func (l *throttle) mayLook(g *guesses, key [sha256.Size]byte, now time.Time) bool {
	if now.After(g.second.end) || g.second.n < looksPerSecond {
		return true
	}
	at, before := l.right[key]
	return before && now.Sub(at) < rightFor && (now.After(g.hour.end) || g.hour.n < guessesPerHour)
}

// forget removes the addresses of which nothing wrong came for a while, or if there
// are none all that may send again.
func (l *throttle) forget(now time.Time) {
	for _, old := range []func(*guesses) bool{
		func(g *guesses) bool { return now.Sub(g.last) > forgetAfter },
		func(g *guesses) bool { return now.After(g.until) },
		func(*guesses) bool { return true },
	} {
		maps.DeleteFunc(l.wrong, func(_ netip.Addr, g *guesses) bool { return old(g) })
		if len(l.wrong) < maxRemember {
			return
		}
	}
}
