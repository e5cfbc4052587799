package door

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
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
