package door

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"time"
)

// cookie is the name of the cookie that a browser gets when its user logs in.
const cookie = "oid_session"

// A login begins a session. The server stores nothing of it: the value of the cookie has the
// time at which the session ends, random bytes, and their signature with the token. So a
// session survives a restart of the server, and ends when the token is removed.
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

// sign returns head with its signature appended.
func (t *Token) sign(head []byte) []byte {
	mac := hmac.New(sha256.New, []byte(t.Value))
	mac.Write([]byte("oid session\x00" + t.Name + "\x00"))
	mac.Write(head)
	return mac.Sum(head)
}

// sessionOf returns the token of the session in the cookie of r, or nil.
func (d *Door) sessionOf(r *http.Request) *Token {
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
	for i := range d.options.Tokens {
		t := &d.options.Tokens[i]
		if hmac.Equal(t.sign(append([]byte(nil), b[:sessionHead]...)), b) {
			found = t
		}
	}
	if _, ended := d.ended.Load(c.Value); ended {
		return nil
	}
	return found
}

// LogIn begins a session if value is that of a token, and reports whether it is.
func (d *Door) LogIn(w http.ResponseWriter, r *http.Request, value string) bool {
	t := d.tokenFor(value)
	if t == nil {
		d.logWrong(r)
		return false
	}
	d.setCookie(w, r, newSession(t, time.Now().Add(d.options.Session)), int(d.options.Session/time.Second))
	return true
}

// LogOut ends the session of r, if it has one.
func (d *Door) LogOut(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookie); err == nil && d.sessionOf(r) != nil {
		d.ended.Store(c.Value, true)
		time.AfterFunc(d.options.Session, func() { d.ended.Delete(c.Value) }) // by then the session has ended by itself
	}
	d.setCookie(w, r, "", -1)
}

// InSession reports whether r comes from a browser whose user has logged in.
func (d *Door) InSession(r *http.Request) bool { return d.sessionOf(r) != nil }

// setCookie sets the cookie for age seconds. If age is negative, it removes the cookie.
func (d *Door) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookie, Value: value, MaxAge: age, Path: d.Base() + "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.origin.secure(r),
	})
}
