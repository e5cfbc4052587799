package door

import (
	"log/slog"
	"net/http"
	"net/netip"
)

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
		return errReadOnly(t.Name)
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
