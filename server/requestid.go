package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/oidkit/oid/objectid"
)

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

// requestID returns the id of the request that ctx belongs to, or "". A connection has
// one request at a time.
func requestID(ctx context.Context) string {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		if id := c.request.Load(); id != nil {
			return *id
		}
	}
	return ""
}
