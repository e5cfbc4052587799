// Package client calls the HTTP API of package server from Go.
//
// Start with a [Client] and the URL of the server. A service that creates ids becomes a
// [Member]: it registers with the server, sends heartbeats, and creates ids with a process
// block, a four-byte prefix that the server gives to no other process. So each id can
// be traced to the process that created it:
//
//	c := &client.Client{URL: "http://127.0.0.1:8024"}
//	m, err := c.NewMember(ctx, wire.Registration{Name: "shop"}, nil)
//	...
//	defer m.End("shut down")
//	id := m.New()
//
// The type [IDs] does the same, but registers when the first id is needed, so that a program
// can start before its server.
//
// Each method of Client calls one endpoint. Give its context a deadline, because
// http.DefaultClient has no timeout. There are no methods for endpoints that only read: call
// them with net/http, and decode the response into the type of package wire that the API's
// description names.
//
// The package depends only on the standard library and on packages objectid and wire.
package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
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
	// Retries is the maximum number of times that the client repeats a request. It repeats a
	// request after a response with status 429 or 503 whose header Retry-After asks for a
	// minute or less. It also repeats a registration, and the report of an end, that got no
	// response, or one that is not of the API. If Retries is negative, the client repeats
	// nothing. Default: 3.
	Retries int
}

// ErrResponse is wrapped by errors about a response that does not conform to the API, such as
// the error page of a proxy. Whether the server has got the request is then unknown, as
// without a response.
var ErrResponse = errors.New("client: invalid response")

// NewIDs fills dst with new ids from the server. Each id is greater than the one before.
// The server refuses more than 10,000 ids. After an error the content of dst is undefined.
func (c *Client) NewIDs(ctx context.Context, dst []objectid.ID) error {
	if len(dst) == 0 {
		return nil
	}
	req, err := c.request(ctx, http.MethodPost, "/v1/ids", wire.NewIDs{Count: len(dst)})
	if err == nil {
		req.Header.Set("Accept", "application/octet-stream")
	}
	return c.send(req, err, func(res *http.Response) error {
		if kind := res.Header.Get("Content-Type"); kind != "application/octet-stream" {
			return fmt.Errorf("want application/octet-stream, not %.80q", kind) // any text would make ids
		}
		body := bufio.NewReader(res.Body)
		for i := range dst {
			if _, err := io.ReadFull(body, dst[i][:]); err != nil {
				return fmt.Errorf("read ids: %w", err)
			}
		}
		if _, err := body.ReadByte(); err != io.EOF {
			return errors.New("more ids than requested")
		}
		return nil
	})
}

// Register records a process. If r has evidence ids, the process is adopted. A zero r.Clock
// means the time of this host.
//
// r.Key makes the registration safe to repeat: all registrations with the same key return
// the same member. If the response is lost, Register itself sends the registration again,
// with the same key. If r.Key is empty, each call of Register draws a new key. So if you call
// Register again after an error, set r.Key: otherwise a second member may be recorded.
func (c *Client) Register(ctx context.Context, r wire.Registration) (wire.Registered, error) {
	if r.Clock.IsZero() {
		r.Clock = time.Now()
	}
	r.Key = cmp.Or(r.Key, rand.Text())
	req, err := c.request(ctx, http.MethodPost, "/v1/processes", r)
	if err == nil {
		req.Header.Set(idempotencyKey, r.Key)
	}
	return decode(c, req, err, func(got *wire.Registered) bool { return got.Member != "" && got.GPID != "" })
}

// about reports whether a response is about a member.
func about(member string) func(*wire.Registered) bool {
	return func(got *wire.Registered) bool { return got.Member == member }
}

// Heartbeat reports that a process is alive, and its load. member is the member key that
// [Client.Register] returned. After an [Error] that is [Error.Gone], register again. A
// collision is not an error: the result then lists the rivals.
func (c *Client) Heartbeat(ctx context.Context, member string, load wire.Load) (wire.Registered, error) {
	return call(ctx, c, http.MethodPost, memberPath(member)+"/heartbeats", wire.Heartbeat{Load: load, Clock: time.Now()}, about(member))
}

// Heartbeats sends the heartbeats of many processes. The result lists the heartbeats that
// have a problem; the error is about the request as a whole. A server that does not know
// descriptions gets the heartbeats without them.
func (c *Client) Heartbeats(ctx context.Context, beats []wire.HeartbeatOf) (wire.HeartbeatResults, error) {
	got, err := call(ctx, c, http.MethodPost, "/v1/members/heartbeats", wire.Heartbeats{Heartbeats: beats}, func(got *wire.HeartbeatResults) bool {
		n := int64(len(beats)) // a heartbeat with rivals is recorded and has a problem
		return got.Recorded <= n && got.Recorded+int64(len(got.Problems)) >= n
	})
	described := func(b wire.HeartbeatOf) bool { return b.Description != nil }
	if problem, ok := errors.AsType[*Error](err); ok && problem.Status == http.StatusUnprocessableEntity && slices.ContainsFunc(beats, described) {
		beats = slices.Clone(beats)
		for i := range beats {
			beats[i].Description = nil
		}
		return c.Heartbeats(ctx, beats)
	}
	return got, err
}

// AddEvidence records further process values of a process. evidence has one id for each of
// these values: an id that the process created with the value. member is the member key that
// [Client.Register] returned. layout is the layout of the evidence ids: modern, classic or
// java; empty means modern.
func (c *Client) AddEvidence(ctx context.Context, member, layout string, evidence ...objectid.ID) (wire.Registered, error) {
	return call(ctx, c, http.MethodPost, memberPath(member)+"/evidence", wire.AddedEvidence{EvidenceIDs: evidence, Layout: layout}, about(member))
}

// End records that a process ended. age is how long ago it ended; the process may have ended
// before it was registered. reason is text for human readers. member is the member key that
// [Client.Register] returned. If the end of the process is recorded already, End changes
// nothing and returns nil.
func (c *Client) End(ctx context.Context, member, reason string, age time.Duration) error {
	q := url.Values{"reason": {reason}, "age_seconds": {strconv.FormatFloat(age.Seconds(), 'f', 6, 64)}}
	_, err := call(ctx, c, http.MethodDelete, memberPath(member)+"?"+q.Encode(), nil, about(member))
	if problem, ok := errors.AsType[*Error](err); ok && problem.Type == wire.ProblemBase+"ended" {
		return nil // perhaps by a request before, whose response was lost
	}
	return err
}

// Census uploads file and returns the analysis of all ids in it. The file is an output of
// mongodump or mongoexport, a list of ids, or any text. q has the parameters of the endpoint,
// such as name, field, format and tz; nil means the defaults. If the server is busy, a file
// that is an io.ReaderAt and an io.Seeker, such as an os.File, is sent again. Any other file
// is sent only once.
func (c *Client) Census(ctx context.Context, file io.Reader, q url.Values) (wire.Census, error) {
	req, err := c.request(ctx, http.MethodPost, "/v1/census?"+q.Encode(), io.NopCloser(file))
	if part := sectionOf(file); err == nil && part != nil {
		req.ContentLength = part.Size()
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(part, 0, part.Size())), nil }
		req.Body, _ = req.GetBody() // it has no error
	}
	return decode(c, req, err, func(got *wire.Census) bool { return got.Version > 0 })
}

// sectionOf returns the rest of file, or nil if file cannot be read more than once.
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

func memberPath(member string) string { return "/v1/members/" + url.PathEscape(member) }
