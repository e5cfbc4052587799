package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Error is an error response of the server, in the form of RFC 9457.
type Error struct {
	Status int      `json:"status"` // of HTTP
	Title  string   `json:"title"`
	Detail string   `json:"detail"`
	Errors []Detail `json:"errors"` // what is wrong with the request
}

// Detail is one thing that is wrong with a request.
type Detail struct {
	Location string `json:"location"` // such as body.pid
	Message  string `json:"message"`
}

// Error returns everything that the server reported, on one line.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "client: server: %d %s: %s", e.Status, e.Title, e.Detail)
	for i, d := range e.Errors {
		text.WriteString([]string{": ", ", "}[min(i, 1)] + strings.TrimSpace(d.Location+" "+d.Message))
	}
	return text.String()
}

// Bounds of what is read of a response beside its content.
const (
	maxProblem = 64 << 10  // bytes of an error
	maxRest    = 256 << 10 // bytes after the content, to use the connection again
)

// call sends in as JSON, unless it is nil, and decodes the response.
func call[Out any](ctx context.Context, c *Client, method, path string, in any) (out Out, err error) {
	res, err := c.send(ctx, method, path, in, "application/json")
	if err != nil {
		return out, err
	}
	defer finish(res)
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return out, fmt.Errorf("%w: %s %s: %w", ErrResponse, method, path, err)
	}
	return out, nil
}

// send returns a response that is not an error. The caller calls finish with it.
func (c *Client) send(ctx context.Context, method, path string, in any, accept string) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	req.Header.Set("Accept", accept)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	h := c.HTTP
	if h == nil {
		h = http.DefaultClient
	}
	res, err := h.Do(req)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer finish(res)
	problem := &Error{}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxProblem)).Decode(problem); err != nil {
		problem = &Error{Title: http.StatusText(res.StatusCode), Detail: "the response is not problem+json"}
	}
	problem.Status = res.StatusCode
	return nil, problem
}

// finish reads the rest of a body, so that its connection serves further requests,
// and closes it.
func finish(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, maxRest)
	res.Body.Close()
}
