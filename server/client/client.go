// Package client calls the HTTP API of package server from Go.
//
// Start with a [Client] and the URL of the server. Each method is one endpoint. A
// service that creates its own ids registers with [Client.Register], creates ids
// with the process block that it gets, and sends heartbeats:
//
//	c := &client.Client{URL: "http://127.0.0.1:8024"}
//	me, err := c.Register(ctx, wire.Registration{Name: "shop", PID: uint32(os.Getpid())})
//	...
//	_, err = c.Heartbeat(ctx, me.GPID, wire.Load{}) // every me.IntervalSeconds
//	...
//	err = c.End(ctx, me.GPID, "shut down")
//
// The package depends on nothing but the standard library, package objectid and
// package wire.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Client calls one server. Set its fields before the first call; any number of
// goroutines may then share it.
type Client struct {
	// URL is the address of the server, such as http://127.0.0.1:8024.
	URL string
	// Token is sent with each request unless it is empty.
	Token string
	// HTTP sends the requests. Default: http.DefaultClient.
	HTTP *http.Client
}

// ErrResponse is wrapped by the errors for a response that does not follow the
// API.
var ErrResponse = errors.New("client: invalid response")

// NewIDs fills dst with new ids, in rising order. After an error the content of
// dst is undefined.
func (c *Client) NewIDs(ctx context.Context, dst []objectid.ID) error {
	if len(dst) == 0 {
		return nil
	}
	res, err := c.send(ctx, http.MethodPost, "/v1/ids", wire.NewIDs{Count: len(dst)}, "application/octet-stream")
	if err != nil {
		return err
	}
	defer finish(res)
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
		return fmt.Errorf("%w: more ids than requested", ErrResponse)
	}
	return nil
}

// Inspect returns the creation time of an id, its fields, and the process that
// created it.
func (c *Client) Inspect(ctx context.Context, id string) (wire.Inspection, error) {
	return call[wire.Inspection](ctx, c, http.MethodGet, "/v1/ids/"+url.PathEscape(id), nil)
}

// Range turns a time range into a range of ids. An empty text is an open end.
func (c *Client) Range(ctx context.Context, from, to string) (wire.Range, error) {
	q := url.Values{"from": {from}, "to": {to}}
	return call[wire.Range](ctx, c, http.MethodGet, "/v1/range?"+q.Encode(), nil)
}

// Register records a process. With a sample, the process is adopted. A zero r.Clock
// means the time of this host.
func (c *Client) Register(ctx context.Context, r wire.Registration) (wire.Registered, error) {
	if r.Clock.IsZero() {
		r.Clock = time.Now()
	}
	return call[wire.Registered](ctx, c, http.MethodPost, "/v1/processes", r)
}

// Heartbeat reports that a registered process is alive, and its load. After an
// [Error] with status 404 or 409, register again.
func (c *Client) Heartbeat(ctx context.Context, gpid string, load wire.Load) (wire.Registered, error) {
	return call[wire.Registered](ctx, c, http.MethodPost, processPath(gpid)+"/heartbeat", wire.Heartbeat{Load: load, Clock: time.Now()})
}

// AddSamples records further process values of a registered process, by an id with
// each. An empty layout means modern.
func (c *Client) AddSamples(ctx context.Context, gpid, layout string, samples ...objectid.ID) (wire.Registered, error) {
	return call[wire.Registered](ctx, c, http.MethodPost, processPath(gpid)+"/samples", wire.AddedSamples{Samples: samples, Layout: layout})
}

// End records the end of a registered process.
func (c *Client) End(ctx context.Context, gpid, reason string) error {
	_, err := call[wire.Registered](ctx, c, http.MethodDelete, processPath(gpid)+"?reason="+url.QueryEscape(reason), nil)
	return err
}

// Processes lists the processes in a state, or all if state is empty.
func (c *Client) Processes(ctx context.Context, state string) (wire.Processes, error) {
	path := "/v1/processes"
	if state != "" {
		path += "?state=" + url.QueryEscape(state)
	}
	return call[wire.Processes](ctx, c, http.MethodGet, path, nil)
}

// History returns one process with its load from a time on, or of a duration up to
// now.
func (c *Client) History(ctx context.Context, gpid, since string) (wire.History, error) {
	return call[wire.History](ctx, c, http.MethodGet, processPath(gpid)+"?since="+url.QueryEscape(since), nil)
}

func processPath(gpid string) string { return "/v1/processes/" + url.PathEscape(gpid) }
