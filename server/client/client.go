// Package client calls the HTTP API of package server from Go.
//
// Start with a [Client] and the URL of the server. A service that creates its own ids
// is a [Member]: it registers, sends heartbeats, and creates ids with a process block
// of its own, so that each id is traced to it:
//
//	c := &client.Client{URL: "http://127.0.0.1:8024"}
//	m, err := c.NewMember(ctx, wire.Registration{Name: "shop"}, nil)
//	...
//	defer m.End("shut down")
//	id := m.New()
//
// [IDs] is a member that registers when the first id is needed. Each other method of
// Client is one endpoint, and ends with its context: http.DefaultClient has no timeout.
//
// The package depends on nothing but the standard library, package objectid and
// package wire.
package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
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
	// Retries is how often a request is repeated that the server refuses for now, with
	// 429 or 503 and a Retry-After, and a registration without an answer. Negative: never.
	// Default: 3.
	Retries int
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
	req, err := c.request(ctx, http.MethodPost, "/v1/ids", wire.NewIDs{Count: len(dst)})
	if err == nil {
		req.Header.Set("Accept", "application/octet-stream")
	}
	res, err := c.try(req, err)
	if err != nil {
		return err
	}
	defer finish(res)
	body := bufio.NewReader(res.Body)
	for i := range dst {
		if _, err := io.ReadFull(body, dst[i][:]); err != nil {
			return fmt.Errorf("client: read ids: %w", err)
		}
	}
	if _, err := body.ReadByte(); err != io.EOF {
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
// means the time of this host. If the answer is lost, the registration is sent again, and
// makes one member all the same. A caller that repeats it after an error gets that member,
// too, if r.Key is the same: 16 to 200 random characters. An empty r.Key means a key that is
// drawn for this call.
func (c *Client) Register(ctx context.Context, r wire.Registration) (wire.Registered, error) {
	if r.Clock.IsZero() {
		r.Clock = time.Now()
	}
	if r.Key == "" {
		r.Key = rand.Text()
	}
	req, err := c.request(ctx, http.MethodPost, "/v1/processes", r)
	if err == nil {
		req.Header.Set(idempotencyKey, r.Key)
	}
	return decode[wire.Registered](c.try(req, err))
}

// Heartbeat reports that a registered process is alive, and its load. member is the key
// in the answer to the registration. After an [Error] with status 404 or 409, register
// again.
func (c *Client) Heartbeat(ctx context.Context, member string, load wire.Load) (wire.Registered, error) {
	return call[wire.Registered](ctx, c, http.MethodPost, memberPath(member)+"/heartbeats", wire.Heartbeat{Load: load, Clock: time.Now()})
}

// Heartbeats sends the heartbeats of many processes. Those with a problem are in the
// answer.
func (c *Client) Heartbeats(ctx context.Context, beats []wire.HeartbeatOf) (wire.HeartbeatResults, error) {
	return call[wire.HeartbeatResults](ctx, c, http.MethodPost, "/v1/members/heartbeats", wire.Heartbeats{Heartbeats: beats})
}

// AddSamples records further process values of a registered process, by an id with
// each. An empty layout means modern.
func (c *Client) AddSamples(ctx context.Context, member, layout string, samples ...objectid.ID) (wire.Registered, error) {
	return call[wire.Registered](ctx, c, http.MethodPost, memberPath(member)+"/samples", wire.AddedSamples{Samples: samples, Layout: layout})
}

// End records the end of a registered process.
func (c *Client) End(ctx context.Context, member, reason string) error {
	return c.EndAgo(ctx, member, reason, 0)
}

// EndAgo is [Client.End] for a process that has ended some time ago, before its
// registration perhaps.
func (c *Client) EndAgo(ctx context.Context, member, reason string, age time.Duration) error {
	q := url.Values{"reason": {reason}, "age_seconds": {strconv.FormatFloat(age.Seconds(), 'f', 6, 64)}}
	_, err := call[wire.Registered](ctx, c, http.MethodDelete, memberPath(member)+"?"+q.Encode(), nil)
	return err
}

// Processes returns the first page of the processes in a state, or of all if state is
// empty.
func (c *Client) Processes(ctx context.Context, state string) (wire.Processes, error) {
	return c.ProcessPage(ctx, ProcessQuery{State: state})
}

// ProcessQuery selects processes. The zero value selects all.
type ProcessQuery struct {
	State   string   // alive, late, dead or ended
	Name    string   // of the service
	Host    string   // its name
	Address string   // ip:port
	Labels  []string // name=value
	Search  string   // a text in the name, the host, the GPID or a label
	Limit   int      // of one page. Default: 1000
	After   string   // the Next of the page before. Default: the first page
}

// ProcessPage returns a page of the processes that q selects.
func (c *Client) ProcessPage(ctx context.Context, q ProcessQuery) (wire.Processes, error) {
	values := url.Values{"label": q.Labels}
	for name, value := range map[string]string{"state": q.State, "name": q.Name, "host": q.Host, "address": q.Address, "q": q.Search, "after": q.After} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if q.Limit > 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return call[wire.Processes](ctx, c, http.MethodGet, "/v1/processes?"+values.Encode(), nil)
}

// EachProcess returns all processes that q selects, page by page. An error ends them.
func (c *Client) EachProcess(ctx context.Context, q ProcessQuery) iter.Seq2[wire.Process, error] {
	return func(yield func(wire.Process, error) bool) {
		for {
			page, err := c.ProcessPage(ctx, q)
			if err != nil {
				yield(wire.Process{}, err)
				return
			}
			for _, p := range page.Processes {
				if !yield(p, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}

// Locks returns a page of the locks that are held, by name. after is the Next of the
// page before, and empty for the first.
func (c *Client) Locks(ctx context.Context, after string) (wire.Locks, error) {
	return call[wire.Locks](ctx, c, http.MethodGet, "/v1/locks?after="+url.QueryEscape(after), nil)
}

// Lock returns the status of a lock. One that nobody holds or waits for is an [Error]
// with status 404.
func (c *Client) Lock(ctx context.Context, name string) (wire.Lock, error) {
	return call[wire.Lock](ctx, c, http.MethodGet, "/v1/locks/"+url.PathEscape(name), nil)
}

// Census uploads a file of mongodump or mongoexport, a list of ids or any text, and
// returns the analysis of all its ids. q has parameters of the endpoint, such as name,
// field, format and tz; nil means the defaults. A file that is an io.ReaderAt and an
// io.Seeker, as an os.File on disk is, can be sent again; others are sent once.
func (c *Client) Census(ctx context.Context, file io.Reader, q url.Values) (wire.Census, error) {
	req, err := c.request(ctx, http.MethodPost, "/v1/census?"+q.Encode(), io.NopCloser(file))
	if part := sectionOf(file); err == nil && part != nil {
		req.ContentLength = part.Size()
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(part, 0, part.Size())), nil }
		req.Body, _ = req.GetBody() // it has no error
	}
	return decode[wire.Census](c.try(req, err))
}

// sectionOf returns the rest of a file that can be read more than once, or nil.
func sectionOf(file io.Reader) *io.SectionReader {
	f, ok := file.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil
	}
	here, err := f.Seek(0, io.SeekCurrent)
	end, atEnd := f.Seek(0, io.SeekEnd)
	_, back := f.Seek(here, io.SeekStart)
	if err != nil || atEnd != nil || back != nil || end <= here { // a pipe, perhaps
		return nil
	}
	return io.NewSectionReader(f, here, end-here)
}

// History returns the members with a GPID, and their load from a time on, or of a duration
// up to now.
func (c *Client) History(ctx context.Context, gpid, since string) (wire.History, error) {
	return call[wire.History](ctx, c, http.MethodGet, "/v1/processes/"+url.PathEscape(gpid)+"?since="+url.QueryEscape(since), nil)
}

func memberPath(member string) string { return "/v1/members/" + url.PathEscape(member) }
