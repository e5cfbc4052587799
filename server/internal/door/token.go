package door

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// ErrToken is wrapped by the errors of [New] and [Door.Listen] about tokens: a token is
// missing, cannot have 128 random bits, or has the name or value of another one.
var ErrToken = errors.New("server: token")

// Token is that of package server, which documents it.
type Token struct {
	Name     string
	Value    string
	ReadOnly bool
	Position string
}

// checkTokens returns an error if a token cannot have 128 random bits, or if two tokens have
// the same name or value. The error has neither the value nor the name of a token, because
// somebody may have written the value in place of the name.
func checkTokens(all []Token) error {
	names, values := map[string]bool{}, map[string]bool{}
	for i, t := range all {
		fault := faultOf(t.Value)
		switch {
		case fault != "":
		case names[t.Name]:
			fault = "it has the name of another one; write NAME all|read TOKEN in each line"
		case values[t.Value]:
			fault = "it has the value of another one"
		}
		if fault != "" {
			return fmt.Errorf("%w %s: %s; make a token with \"openssl rand -hex 16\"", ErrToken, cmp.Or(t.Position, fmt.Sprintf("%d of %d", i+1, len(all))), fault)
		}
		names[t.Name], values[t.Value] = true, true
	}
	return nil
}

// alphabet is a set of characters, and how many random ones have 128 bits.
type alphabet struct {
	name, characters string
	least            int
}

// alphabets has first the smallest one. The first one with all letters and digits of a token
// decides how many the token must have. Signs count only in the last one, that of base64; in
// other tokens they separate groups.
var alphabets = []alphabet{
	{"decimal digits", "0123456789", 39},
	{"hexadecimal digits", "0123456789abcdefABCDEF", 32},
	{"digits and lower-case letters", "0123456789abcdefghijklmnopqrstuvwxyz", 26},
	{"digits and upper-case letters", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 26},
	{"letters, digits and -._~+/", "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~+/", 22}, // with = at the end, those of RFC 6750
}

// faultOf returns why a value cannot be a token with 128 random bits, or "". It cannot tell
// whether the value was made at random.
func faultOf(value string) string {
	value = strings.TrimRight(value, "=") // the padding of base64
	last := len(alphabets) - 1
	foreign := strings.TrimLeft(value, alphabets[last].characters)
	bare := regexp.MustCompile("[^0-9A-Za-z]").ReplaceAllString(value, "")
	i := slices.IndexFunc(alphabets, func(a alphabet) bool { return strings.Trim(bare, a.characters) == "" })
	if i == last {
		bare = value
	}
	different := []byte(bare)
	slices.Sort(different)
	different = slices.Compact(different)
	switch {
	case foreign != "":
		return fmt.Sprintf("%U at offset %d cannot be in a token; want %s, and = at the end only", []rune(foreign)[0], len(value)-len(foreign), alphabets[last].name)
	case regexp.MustCompile("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$").MatchString(value):
		return "it is a UUID, of which at most 122 bits are random, want 128"
	case len(bare) < alphabets[i].least:
		return fmt.Sprintf("it has %d %s, want %d or more", len(bare), alphabets[i].name, alphabets[i].least)
	case len(different) < 8: // fewer than one in 10,000 random tokens of 128 bits
		return fmt.Sprintf("it has %d different characters, want 8 or more", len(different))
	case repeats(bare):
		return "it repeats a shorter text"
	}
	return ""
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
	t := d.TokenOf(r)
	switch {
	case t == nil:
		if _, sent := bearer(r); sent {
			d.logWrong(r)
		}
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

// logWrong logs that a client has sent a wrong token, but not the token.
func (d *Door) logWrong(r *http.Request) {
	d.options.Log.LogAttrs(r.Context(), slog.LevelWarn, "wrong token", slog.String("from", r.RemoteAddr), slog.String("request", RequestID(r.Context())))
}
