package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/backoff"
)

// Error is an error response of the server, in the form of RFC 9457.
type Error struct {
	Status int      `json:"status"` // of HTTP
	Title  string   `json:"title"`
	Detail string   `json:"detail"`
	Errors []Detail `json:"errors"` // what is wrong with the request

	// RetryAfter is when the server may accept the request, or 0 if it does not say so.
	RetryAfter time.Duration `json:"-"`
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

// How a request that the server refuses for now is repeated.
const (
	defaultRetries = 3
	longestRetry   = time.Minute // a longer wait is the caller's to decide
	lostAnswer     = time.Second // after a request without an answer
)

// idempotencyKey is the header by which the server knows a registration that is sent
// again.
const idempotencyKey = "Idempotency-Key"

// Bounds of what is read of a response.
const (
	maxAnswer  = 64 << 20  // bytes of JSON
	maxProblem = 64 << 10  // bytes of an error
	maxRest    = 256 << 10 // bytes after the content, to use the connection again
)

// call sends in, as [Client.request] does, and decodes the response.
func call[Out any](ctx context.Context, c *Client, method, path string, in any) (Out, error) {
	return decode[Out](c.try(c.request(ctx, method, path, in)))
}

// decode reads a response of JSON.
func decode[Out any](res *http.Response, err error) (out Out, _ error) {
	if err != nil {
		return out, err
	}
	defer finish(res)
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&out); err != nil {
		return out, fmt.Errorf("%w: %s %s: %w", ErrResponse, res.Request.Method, res.Request.URL.Path, err)
	}
	return out, nil
}

// request returns a request with the token. An io.Reader is sent as it is, anything else as
// JSON, and nil not at all.
func (c *Client) request(ctx context.Context, method, path string, in any) (*http.Request, error) {
	body, isBytes := in.(io.Reader)
	kind := "application/octet-stream"
	if in != nil && !isBytes {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		body, kind = bytes.NewReader(data), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return req, nil
}

// try sends req unless it comes with an error, and again after the time that the server
// names as long as it refuses req for now. A body that cannot be sent twice is sent once.
// Without an answer it sends req again if that has an idempotency key. It returns a response
// that is not an error, with which the caller calls finish.
func (c *Client) try(req *http.Request, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	h := cmp.Or(c.HTTP, http.DefaultClient)
	for n := 1; ; n++ {
		res, err := h.Do(req)
		if err == nil && res.StatusCode == http.StatusSwitchingProtocols {
			res.Body.Close() // which no context would end
			res.Body = http.NoBody
		}
		if err == nil && res.StatusCode/100 == 2 {
			return res, nil
		}
		var after time.Duration
		if err == nil {
			problem := problemOf(res)
			err, after = problem, problem.RetryAfter
		} else if err = fmt.Errorf("client: %w", err); req.Header.Get(idempotencyKey) != "" {
			after = lostAnswer
		}
		again := req.Body == nil || req.GetBody != nil
		if after <= 0 || !again || !c.wait(req.Context(), n, after) {
			return nil, err
		}
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, fmt.Errorf("client: %w", err)
			}
		}
	}
}

// wait waits after attempt n for another one, and reports whether there is to be one. Clients
// that were refused together do not come back together.
func (c *Client) wait(ctx context.Context, n int, after time.Duration) bool {
	if n > cmp.Or(c.Retries, defaultRetries) || after > longestRetry {
		return false
	}
	after = longer(after)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < after {
		return false
	}
	return backoff.Sleep(ctx, after) == nil
}

// longer returns d and up to a quarter more.
func longer(d time.Duration) time.Duration { return backoff.Between(d, d+d/4) }

// problemOf reads an error response.
func problemOf(res *http.Response) *Error {
	defer finish(res)
	problem := &Error{}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxProblem)).Decode(problem); err != nil {
		problem = &Error{Title: http.StatusText(res.StatusCode), Detail: "the response is not problem+json"}
	}
	problem.Status = res.StatusCode
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusTooManyRequests {
		problem.RetryAfter = retryAfter(res.Header.Get("Retry-After"))
	}
	return problem
}

// retryAfter reads the header, which has seconds or a time. It returns 0 for what it
// cannot read.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return max(time.Duration(seconds)*time.Second, time.Millisecond)
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(time.Until(t), time.Millisecond)
	}
	return 0
}

// finish reads the rest of a body, so that its connection serves further requests,
// and closes it.
func finish(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, maxRest)
	res.Body.Close()
}

// Bounds of the calls that are made in the background.
const (
	shortestCall = 3 * time.Second  // the least that a call may take until it has failed
	longestCall  = 10 * time.Second // a server answers within half of that
	lastCall     = 5 * time.Second  // of the report of the end
	firstPause   = time.Second      // after a call that failed; it doubles with each further one
	longestPause = time.Minute
)

// pauseAfter returns how long to wait after a call that failed with err: longer with each
// failure, as long as the server asks for, and not much more than longest.
func pauseAfter(b *backoff.Backoff, err error, longest time.Duration) time.Duration {
	b.First, b.Max = firstPause, longest
	pause := b.Grow()
	if problem, ok := errors.AsType[*Error](err); ok {
		pause = max(pause, min(problem.RetryAfter, longest))
	}
	return longer(pause)
}
