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
	"github.com/oidkit/oid/server/wire"
)

// Error is a problem of the API, in the form of RFC 9457: the server has received the request
// and refuses it. The error page of a proxy or of another server is never an Error, whatever
// its status. Calls then return an error that wraps [ErrResponse].
type Error struct {
	Type   string   `json:"type"`   // the kind of the problem: a URI that begins with [wire.ProblemBase]
	Status int      `json:"status"` // the HTTP status
	Title  string   `json:"title"`  // the text of the status, such as Conflict
	Detail string   `json:"detail"` // what went wrong
	Errors []Detail `json:"errors"` // the invalid values of the request, if the server lists them

	// RetryAfter is how long the server asks to wait before the request is sent again. If it
	// is 0, the server has not asked for another attempt, and the same request will probably
	// fail again.
	RetryAfter time.Duration `json:"-"`
}

// Gone reports whether the server has no record of the member in the request, or has recorded
// its end. The process then has to register again.
func (e *Error) Gone() bool {
	return e.Status == http.StatusNotFound && e.Type != wire.ProblemBase+"no-endpoint" || e.Status == http.StatusConflict
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

// call sends a request with the body in, see [Client.request], and decodes the response. valid
// is that of decode.
func call[Out any](ctx context.Context, c *Client, method, path string, in any, valid func(*Out) bool) (Out, error) {
	req, err := c.request(ctx, method, path, in)
	return decode(c, req, err, valid)
}

// decode sends req, see [Client.send], and decodes the JSON of the response. valid reports
// whether the response fits the request.
func decode[Out any](c *Client, req *http.Request, err error, valid func(*Out) bool) (Out, error) {
	var out Out
	err = c.send(req, err, func(res *http.Response) error {
		out = *new(Out) // an earlier response may have been decoded in part
		err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&out)
		if err == nil && !valid(&out) {
			err = errors.New("the JSON does not fit the request")
		}
		return err
	})
	return out, err
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

// send sends req and passes a successful response to read, which returns what is wrong with
// it. If err is not nil, send returns err.
//
// If the server, or a proxy, says when it may accept req, send waits for that time and sends
// req again. Without a response of the API, send repeats only requests that are safe to repeat:
// those with an idempotency key or with the method DELETE. A body that cannot be read twice is
// sent only once.
func (c *Client) send(req *http.Request, err error, read func(*http.Response) error) error {
	if err != nil {
		return err
	}
	h := cmp.Or(c.HTTP, http.DefaultClient)
	for n := 1; ; n++ {
		var after time.Duration
		res, err := h.Do(req)
		if err != nil {
			err = fmt.Errorf("client: %w", err)
		} else if after, err = answerOf(res, req, read); err == nil {
			return nil
		}
		if _, refused := errors.AsType[*Error](err); !refused && (req.Header.Get(idempotencyKey) != "" || req.Method == http.MethodDelete) {
			after = cmp.Or(after, lostAnswer)
		}
		again := req.Body == nil || req.GetBody != nil
		if after <= 0 || !again || !c.wait(req.Context(), n, after) {
			return err
		}
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return fmt.Errorf("client: %w", err)
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

// answerOf reads the response to req and closes it. The error is an [Error] if the response is
// a problem of the API. It wraps [ErrResponse] if something other than the API has answered,
// or if read returns an error. after is how long the sender of an error asks to wait, or 0.
func answerOf(res *http.Response, req *http.Request, read func(*http.Response) error) (after time.Duration, err error) {
	if res.StatusCode == http.StatusSwitchingProtocols {
		res.Body.Close() // reading it would not end with the context
		res.Body = http.NoBody
	}
	defer finish(res)
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusTooManyRequests {
		after = retryAfter(res.Header.Get("Retry-After"))
	}
	kind := res.Header.Get("Content-Type")
	switch last := cmp.Or(res.Request, req); {
	case last.Method != req.Method:
		err = fmt.Errorf("redirected to %s %.200s; if the server has moved there, change the URL", last.Method, last.URL)
	case res.StatusCode/100 == 2:
		if err = read(res); err == nil {
			return 0, nil
		}
	default:
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // a part of it is no problem
		problem := &Error{}
		if json.Unmarshal(body, problem) == nil && strings.HasPrefix(kind, "application/problem+json") && strings.HasPrefix(problem.Type, wire.ProblemBase) {
			problem.Status, problem.RetryAfter = res.StatusCode, after
			return after, problem
		}
		err = fmt.Errorf("%.80q", bytes.TrimSpace(body))
	}
	return after, fmt.Errorf("%w: %s %s://%s%s: status %d, content type %.80q: %w; oid serve does not answer like this: check the URL and the proxies in front of the server",
		ErrResponse, req.Method, req.URL.Scheme, req.URL.Host, req.URL.Path, res.StatusCode, kind, err)
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
