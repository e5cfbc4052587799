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
	Status int      `json:"status"` // the HTTP status
	Title  string   `json:"title"`  // the text of the status, such as Conflict
	Detail string   `json:"detail"` // what went wrong
	Errors []Detail `json:"errors"` // the invalid values of the request, if the server lists them

	// RetryAfter is how long the server asks to wait before the request is sent again. If it
	// is 0, the server has not asked for another attempt, and the same request will probably
	// fail again.
	RetryAfter time.Duration `json:"-"`
}

// Detail is one invalid value of a request.
type Detail struct {
	Location string `json:"location"` // where the value is, such as body.pid
	Message  string `json:"message"`
}

// Error returns the status and everything that the server reported, on one line.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "client: server: %d %s: %s", e.Status, e.Title, e.Detail)
	for i, d := range e.Errors {
		text.WriteString([]string{": ", ", "}[min(i, 1)] + strings.TrimSpace(d.Location+" "+d.Message))
	}
	return text.String()
}

// How a request is sent again.
const (
	defaultRetries = 3
	longestRetry   = time.Minute // if the server asks for a longer wait, the caller decides
	lostAnswer     = time.Second // the wait after a request without a response
)

// idempotencyKey is the header by which the server recognizes a registration that is sent
// again.
const idempotencyKey = "Idempotency-Key"

// How many bytes of a response are read.
const (
	maxAnswer  = 64 << 20  // of a successful response
	maxProblem = 64 << 10  // of an error response
	maxRest    = 256 << 10 // after the content, so that the connection can be used again
)

// call sends a request with the body in, see [Client.request], and decodes the response.
func call[Out any](ctx context.Context, c *Client, method, path string, in any) (Out, error) {
	return decode[Out](c.send(c.request(ctx, method, path, in)))
}

// decode decodes the JSON of a response.
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

// request returns a request with the token. Its body is the content of in if in is an
// io.Reader, otherwise in as JSON. If in is nil, there is no body.
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

// send sends req and returns a successful response, which the caller passes to finish. If
// err is not nil, it returns err.
//
// If the server says when it may accept req, send waits for that time and sends req again.
// If there is no response and req has an idempotency key, send also sends req again. A
// body that cannot be read twice is sent only once.
func (c *Client) send(req *http.Request, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	h := cmp.Or(c.HTTP, http.DefaultClient)
	for n := 1; ; n++ {
		res, err := h.Do(req)
		if err == nil && res.StatusCode == http.StatusSwitchingProtocols {
			res.Body.Close() // reading it would not end with the context
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

// wait waits before attempt n+1, and reports whether there should be one. The wait is
// random within a quarter of after, so that clients which were refused at the same time do
// not return at the same time.
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

// longer returns a random duration from d to d and a quarter.
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

// retryAfter reads the value of a Retry-After header: a number of seconds, or a time. It
// returns 0 for a value that it cannot read.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return max(time.Duration(seconds)*time.Second, time.Millisecond)
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(time.Until(t), time.Millisecond)
	}
	return 0
}

// finish reads the rest of a response, so that its connection serves further requests, and
// closes it.
func finish(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, maxRest)
	res.Body.Close()
}

// Timeouts of the calls of a member, and the pauses after calls that failed. The timeout of a
// heartbeat is one interval, within these bounds.
const (
	shortestCall = 3 * time.Second
	longestCall  = 10 * time.Second // twice as long as a server takes to answer
	lastCall     = 5 * time.Second  // to report the end
	firstPause   = time.Second      // doubles with each further failure
	longestPause = time.Minute
)

// pauseAfter returns how long to wait after a call that failed with err. The pause grows
// with each failure and is at least as long as the server asks for, but not much longer than
// longest.
func pauseAfter(b *backoff.Backoff, err error, longest time.Duration) time.Duration {
	b.First, b.Max = firstPause, longest
	pause := b.Grow()
	if problem, ok := errors.AsType[*Error](err); ok {
		pause = max(pause, min(problem.RetryAfter, longest))
	}
	return longer(pause)
}
