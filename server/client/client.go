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
// [IDs] is a member that registers when the first id is needed. Each method of Client is one
// endpoint and ends with its context: http.DefaultClient has no timeout. Endpoints that only
// read need no client: ask them with net/http, and decode the answer into its type of package
// wire.
//
// The package depends on nothing but the standard library, package objectid and
// package wire.
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

// NewIDs fills dst, which has at most 10,000 elements, with new ids. Each id is greater
// than the one before. After an error the content of dst is undefined.
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

// Register records a process. With a sample, the process is adopted. A zero r.Clock
// means the time of this host. If the answer is lost, the registration is sent again, and
// makes one member all the same. A caller that repeats it after an error gets that member,
// too, if r.Key is the same: 16 to 200 random characters. An empty r.Key means a key that is
// drawn for this call.
func (c *Client) Register(ctx context.Context, r wire.Registration) (wire.Registered, error) {
	if r.Clock.IsZero() {
		r.Clock = time.Now()
	}
	r.Key = cmp.Or(r.Key, rand.Text())
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

// AddEvidence records further process values of a registered process, by an id with
// each. An empty layout means modern.
func (c *Client) AddEvidence(ctx context.Context, member, layout string, evidence ...objectid.ID) (wire.Registered, error) {
	return call[wire.Registered](ctx, c, http.MethodPost, memberPath(member)+"/evidence", wire.AddedEvidence{EvidenceIDs: evidence, Layout: layout})
}

// End records the end of a registered process, some time ago: perhaps before its
// registration.
func (c *Client) End(ctx context.Context, member, reason string, age time.Duration) error {
	q := url.Values{"reason": {reason}, "age_seconds": {strconv.FormatFloat(age.Seconds(), 'f', 6, 64)}}
	_, err := call[wire.Registered](ctx, c, http.MethodDelete, memberPath(member)+"?"+q.Encode(), nil)
	return err
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

func memberPath(member string) string { return "/v1/members/" + url.PathEscape(member) }
