package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// requestIDKey is the key of the id of a request in its context.
type requestIDKey struct{}

// withRequestID returns r with an id, by which its answer and the lines of the log
// belong together: that of a trusted proxy, or a new one.
func withRequestID(r *http.Request) (*http.Request, string) {
	id := ""
	if isForwarded(r) {
		id = r.Header.Get("X-Request-Id")
	}
	if id == "" || len(id) > 100 || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") != "" {
		id = objectid.New().String()
	}
	return r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)), id
}

// requestID returns the id of the request that ctx belongs to, or "".
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
