package door

import (
	"context"
	"net/http"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Receive returns r as its sender meant it, with the address of the client in place of
// the one of a trusted proxy and without the path of the base URL, and the id of the
// request.
func (d *Door) Receive(r *http.Request) (received *http.Request, id string) {
	r = d.origin.receive(r)
	id = requestIDOf(r)
	if c := connectionOf(r); c != nil {
		c.request.Store(&id)
	}
	return r, id
}

// requestIDOf returns an id for r, by which its answer and the lines of the log belong
// together: that of a trusted proxy, or a new one.
func requestIDOf(r *http.Request) string {
	if isForwarded(r) {
		id := r.Header.Get("X-Request-Id")
		if id != "" && len(id) <= 100 && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") == "" {
			return id
		}
	}
	return objectid.New().String()
}

// RequestID returns the id of the request that ctx belongs to, or "". A connection has
// one request at a time.
func RequestID(ctx context.Context) string {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		if id := c.request.Load(); id != nil {
			return *id
		}
	}
	return ""
}
