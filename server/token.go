package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

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

// permits reports whether t permits r.
func (t *Token) permits(r *http.Request) bool {
	if !t.ReadOnly || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	// Inspecting a long text and taking a census change nothing.
	return r.Method == http.MethodPost && (r.URL.Path == "/" || r.URL.Path == "/logout" || isUpload(r))
}

// tokenFor returns the token with a value, or nil. It takes the same time for all.
func (s *Server) tokenFor(value string) *Token {
	var found *Token
	for i := range s.options.Tokens {
		if t := &s.options.Tokens[i]; equal(value, t.Value) {
			found = t
		}
	}
	return found
}

func (s *Server) hasTokens() bool { return len(s.options.Tokens) > 0 }

// sessions are the logins of browsers. A session is a cookie that its token signs, so
// that it outlives the server and ends with the token.
type sessions struct {
	mu    sync.Mutex
	ended map[string]time.Time // those that were logged out, until they would end anyway
}

// A session is the time of its end, random bytes, and a signature of these.
const (
	sessionRandom = 16
	sessionHead   = 8 + sessionRandom
)

// newSession returns the value of the cookie of a new session.
func newSession(t *Token, end time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(end.Unix()))
	b = append(b, make([]byte, sessionRandom)...)
	rand.Read(b[8:])
	return base64.RawURLEncoding.EncodeToString(t.sign(b))
}

// sign appends the signature of a session to it.
func (t *Token) sign(head []byte) []byte {
	mac := hmac.New(sha256.New, []byte(t.Value))
	mac.Write([]byte("oid session\x00" + t.Name + "\x00"))
	mac.Write(head)
	return mac.Sum(head)
}

// sessionOf returns the token of the session in the cookie of r, or nil.
func (s *Server) sessionOf(r *http.Request) *Token {
	c, err := r.Cookie(cookie)
	if err != nil {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || len(b) != sessionHead+sha256.Size {
		return nil
	}
	if end := int64(binary.BigEndian.Uint64(b)); time.Now().Unix() >= end {
		return nil
	}
	var found *Token
	for i := range s.options.Tokens {
		t := &s.options.Tokens[i]
		if hmac.Equal(t.sign(append([]byte(nil), b[:sessionHead]...)), b) {
			found = t
		}
	}
	if found != nil && s.sessions.hasEnded(c.Value) {
		return nil
	}
	return found
}

func (l *sessions) hasEnded(value string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ended := l.ended[value]
	return ended
}

// end ends the session until its own end.
func (l *sessions) end(value string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for v, t := range l.ended {
		if now.After(t) {
			delete(l.ended, v)
		}
	}
	if l.ended == nil {
		l.ended = map[string]time.Time{}
	}
	l.ended[value] = until
}

// bearer returns the token in the Authorization header of r.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}
