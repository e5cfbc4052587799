package client

import (
	"context"
	"net/http"
)

// Get sends a request without a body, as any method of a Client may.
func Get[Out any](ctx context.Context, c *Client, path string) (Out, error) {
	return call(ctx, c, http.MethodGet, path, nil, func(*Out) bool { return true })
}
