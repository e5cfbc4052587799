// Package client calls the HTTP API of package server from Go.
//
// Start with a [Client] and its base URL; each method is one endpoint. A service
// that makes its own ids with a block of its own joins with [Client.Join] and then
// sends heartbeats.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Client calls one server. Its fields may be set until the first call; any number
// of goroutines may then share it.
type Client struct {
	// URL is where the server is, such as http://127.0.0.1:8024.
	URL string
	// Token is sent to the server if it is not empty.
	Token string
	// HTTP does the requests. Default: http.DefaultClient.
	HTTP *http.Client
}

// Error is an answer of the server that says why it did not do what was asked.
type Error struct {
	Status int    `json:"status"` // of HTTP
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// Error says what the server said.
func (e *Error) Error() string { return fmt.Sprintf("server: %d %s: %s", e.Status, e.Title, e.Detail) }

// ErrAnswer is wrapped by the errors for answers that make no sense.
var ErrAnswer = errors.New("client: answer of the server")

// NewIDs fills dst with new ids, in rising order. On an error its content is not
// defined.
func (c *Client) NewIDs(ctx context.Context, dst []objectid.ID) error {
	if len(dst) == 0 {
		return nil
	}
	res, err := c.send(ctx, http.MethodPost, "/v1/ids", wire.NewIDs{Count: len(dst)}, "application/octet-stream")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	buf := make([]byte, min(len(dst), 4096)*objectid.Size)
	for len(dst) > 0 {
		buf = buf[:min(len(dst)*objectid.Size, len(buf))]
		if _, err := io.ReadFull(res.Body, buf); err != nil {
			return fmt.Errorf("client: read ids: %w", err)
		}
		for i := range len(buf) / objectid.Size {
			dst[i] = objectid.ID(buf[i*objectid.Size:])
		}
		dst = dst[len(buf)/objectid.Size:]
	}
	if n, err := res.Body.Read(buf[:1]); n > 0 || err != io.EOF {
		return fmt.Errorf("%w: more ids than were asked for", ErrAnswer)
	}
	return nil
}

// Inspect tells what an id says and who made it.
func (c *Client) Inspect(ctx context.Context, id string) (wire.Inspection, error) {
	return call[wire.Inspection](ctx, c, http.MethodGet, "/v1/ids/"+url.PathEscape(id), nil)
}

// Range turns a stretch of time into a range of ids. An empty text is an open end.
func (c *Client) Range(ctx context.Context, from, to string) (wire.Range, error) {
	q := url.Values{"from": {from}, "to": {to}}
	return call[wire.Range](ctx, c, http.MethodGet, "/v1/range?"+q.Encode(), nil)
}

// Join records a process.
func (c *Client) Join(ctx context.Context, j wire.Join) (wire.Joined, error) {
	return call[wire.Joined](ctx, c, http.MethodPost, "/v1/processes", j)
}

// Heartbeat says that a process which joined is alive. An [Error] with status 404
// or 409 means that it has to join again.
func (c *Client) Heartbeat(ctx context.Context, gpid string, h wire.Heartbeat) (wire.Joined, error) {
	return call[wire.Joined](ctx, c, http.MethodPost, process(gpid)+"/heartbeat", h)
}

// Leave records the clean end of a process that joined.
func (c *Client) Leave(ctx context.Context, gpid, reason string) error {
	_, err := call[wire.Joined](ctx, c, http.MethodDelete, process(gpid)+"?reason="+url.QueryEscape(reason), nil)
	return err
}

// Processes lists the processes in a state, or all for the empty one.
func (c *Client) Processes(ctx context.Context, state string) (wire.Processes, error) {
	path := "/v1/processes"
	if state != "" {
		path += "?state=" + url.QueryEscape(state)
	}
	return call[wire.Processes](ctx, c, http.MethodGet, path, nil)
}

// History returns one process with its load since a duration or a time.
func (c *Client) History(ctx context.Context, gpid, since string) (wire.History, error) {
	return call[wire.History](ctx, c, http.MethodGet, process(gpid)+"?since="+url.QueryEscape(since), nil)
}

func process(gpid string) string { return "/v1/processes/" + url.PathEscape(gpid) }

// call sends in as JSON, unless it is nil, and reads the answer.
func call[Out any](ctx context.Context, c *Client, method, path string, in any) (out Out, err error) {
	res, err := c.send(ctx, method, path, in, "application/json")
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return out, fmt.Errorf("%w: %s %s: %w", ErrAnswer, method, path, err)
	}
	return out, nil
}

// send returns an answer that is no error. The caller closes its body.
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
	defer res.Body.Close()
	problem := &Error{}
	const most = 1 << 16
	if err := json.NewDecoder(io.LimitReader(res.Body, most)).Decode(problem); err != nil {
		problem.Detail = "the answer is no problem+json"
	}
	problem.Status = res.StatusCode
	return nil, problem
}
