package door

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
)

// ErrToken is wrapped by the errors of [New] and [Door.Listen] for a missing token and for
// one that others could guess.
var ErrToken = errors.New("server: token")

// Token is that of package server, which documents it.
type Token struct {
	Name     string
	Value    string
	ReadOnly bool
}

// checkTokens returns an error for tokens that others could guess, or that have the same
// name or value.
func checkTokens(all []Token) error {
	names, values := map[string]bool{}, map[string]bool{}
	for _, t := range all {
		weakness := weaknessOf(t.Value)
		switch {
		case weakness != "":
			return fmt.Errorf("%w %q is too easy to guess: %s; make one with \"openssl rand -hex 16\"", ErrToken, t.Name, weakness)
		case names[t.Name]:
			return fmt.Errorf("%w: two tokens have the name %q", ErrToken, t.Name)
		case values[t.Value]:
			return fmt.Errorf("%w: two tokens have the same value", ErrToken)
		}
		names[t.Name], values[t.Value] = true, true
	}
	return nil
}

const (
	digits    = "0123456789"
	lowercase = "abcdefghijklmnopqrstuvwxyz"
	uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// alphabets are the characters that a token may consist of, the smallest first, and how
// many random ones have 128 bits.
var alphabets = []struct {
	name, characters string
	least            int
}{
	{"decimal digits", digits, 39},
	{"hexadecimal digits", digits + "abcdefABCDEF", 32},
	{"digits and lower-case letters", digits + lowercase, 26},
	{"digits and upper-case letters", digits + uppercase, 26},
	{"letters, digits and -._~+/=", digits + lowercase + uppercase + "-._~+/=", 22}, // those of RFC 6750
}

// leastDifferent is how many different characters a token has at least. A random one of 128
// bits has fewer less than once in 10,000 times.
const leastDifferent = 8

// weaknessOf returns why a token cannot have 128 bits, or "". Whether it was made at random
// cannot be seen.
func weaknessOf(value string) string {
	for _, a := range alphabets {
		if strings.Trim(value, a.characters) != "" {
			continue
		}
		different := map[rune]bool{}
		for _, c := range value {
			different[c] = true
		}
		switch {
		case len(value) < a.least:
			return fmt.Sprintf("it has %d %s, want %d or more", len(value), a.name, a.least)
		case len(different) < leastDifferent:
			return fmt.Sprintf("it has %d different characters, want %d or more", len(different), leastDifferent)
		case repeats(value):
			return "it repeats a shorter text"
		}
		return ""
	}
	return "it may have only letters, digits and -._~+/="
}

// repeats reports whether value begins again at its middle or before.
func repeats(value string) bool {
	for n := 1; n <= len(value)/2; n++ {
		if strings.HasPrefix(value, value[n:]) {
			return true
		}
	}
	return false
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
		t = d.tryToken(r, value)
	} else {
		t = d.sessionOf(r)
	}
	switch {
	case t == nil:
		return ErrNoToken
	case t.ReadOnly && access < Read:
		return ErrReadOnly
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

// tryToken returns the token with a value that a client has sent, or nil. The log has the
// wrong ones, without the value.
func (d *Door) tryToken(r *http.Request, value string) *Token {
	t := d.tokenFor(value)
	if t == nil {
		d.options.Log.LogAttrs(r.Context(), slog.LevelWarn, "wrong token", slog.String("from", r.RemoteAddr), slog.String("request", RequestID(r.Context())))
	}
	return t
}
