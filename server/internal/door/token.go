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

// ErrToken is wrapped by the errors of [New] and [Door.Listen] about tokens: a token is
// missing, is too easy to guess, or has the name or value of another one.
var ErrToken = errors.New("server: token")

// Token is that of package server, which documents it.
type Token struct {
	Name     string
	Value    string
	ReadOnly bool
}

// checkTokens returns an error if a token is too easy to guess, or if two tokens have the
// same name or value. It counts the tokens instead of naming them: if somebody writes a token in
// place of its name, the error must not show it.
func checkTokens(all []Token) error {
	names, values := map[string]bool{}, map[string]bool{}
	for i, t := range all {
		weakness := weaknessOf(t.Value)
		switch {
		case weakness != "":
			return fmt.Errorf("%w %d of %d is too easy to guess: %s; make one with \"openssl rand -hex 16\"", ErrToken, i+1, len(all), weakness)
		case names[t.Name]:
			return fmt.Errorf("%w %d of %d has the name of another one; write NAME all|read TOKEN in each line", ErrToken, i+1, len(all))
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

// alphabets are the sets of characters of which a token may consist. The smallest set that
// has all characters of a token decides how long the token must be.
var alphabets = []struct {
	name, characters string
	least            int // how many random characters have 128 bits
}{
	{"decimal digits", digits, 39},
	{"hexadecimal digits", digits + "abcdefABCDEF", 32},
	{"digits and lower-case letters", digits + lowercase, 26},
	{"digits and upper-case letters", digits + uppercase, 26},
	{"letters, digits and -._~+/=", digits + lowercase + uppercase + "-._~+/=", 22}, // those of RFC 6750
}

// leastDifferent is how many different characters a token must have. Less than one in 10,000
// random tokens of 128 bits has fewer.
const leastDifferent = 8

// weaknessOf returns why a token cannot have 128 bits, or "". It cannot tell whether the
// token was drawn at random.
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

// repeats reports whether value repeats a text of at most half its length.
func repeats(value string) bool {
	for n := 1; n <= len(value)/2; n++ {
		if strings.HasPrefix(value, value[n:]) {
			return true
		}
	}
	return false
}

// tokenFor returns the token with a value, or nil. The time that it takes does not depend on
// the content of value.
func (d *Door) tokenFor(value string) *Token {
	var found *Token
	given := sha256.Sum256([]byte(value)) // so that all values have the same length
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

// authorize returns nil if the token of r, or of its session, permits access.
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

// TokenOf returns the token of r, or of its session. It returns nil if the server has no
// tokens.
func (d *Door) TokenOf(r *http.Request) *Token {
	if value, ok := bearer(r); ok {
		return d.tokenFor(value)
	}
	return d.sessionOf(r)
}

// tryToken returns the token with the value that a client has sent, or nil. It logs that a
// client has sent a wrong value, but not the value.
func (d *Door) tryToken(r *http.Request, value string) *Token {
	t := d.tokenFor(value)
	if t == nil {
		d.options.Log.LogAttrs(r.Context(), slog.LevelWarn, "wrong token", slog.String("from", r.RemoteAddr), slog.String("request", RequestID(r.Context())))
	}
	return t
}
