package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/store"
)

// Options configure a [Server]. The zero value and a nil pointer mean the defaults.
type Options struct {
	// Open opens the store that holds the registry. The server calls it again after
	// an error, and closes the store at the end. Nil: there is no registry.
	Open func(context.Context) (store.Store, error)
	// StoreName is what the page calls the store, such as PostgreSQL. Default: the
	// page does not name it.
	StoreName string
	// OneHost reports whether only this host can reach the store that Open has
	// returned, see package registry. Nil: other hosts may reach it.
	OneHost func(store.Store) bool
	// OpenLocks opens the place that holds the locks that the server shows. The server
	// closes the Locker at the end. Nil: the server shows no locks.
	OpenLocks func(context.Context) (lock.Locker, error)
	// Addr is the ip:port that the registry records for the server. Default: the
	// address of the listener.
	Addr string
	// Version is shown by the page, the API and the registry.
	Version string

	// Token is the bearer token of API requests and the password of the login page.
	// At least 16 characters. Default: none, which requires a loopback address.
	Token string
	// Tokens are further tokens, each with a name.
	Tokens []Token
	// Session is how long a login of the page lasts. Default: 12h.
	Session time.Duration

	// BaseURL is where clients reach the server, if not at the address of the
	// listener: its host is answered, its path comes before all others, and with
	// https the cookie is for TLS only. Default: none.
	BaseURL string
	// TrustedProxies are the addresses of proxies whose X-Forwarded-For and
	// X-Forwarded-Proto are believed. Those at a Unix socket always are.
	TrustedProxies []netip.Prefix
	// TLS serves HTTP/1.1 over TLS. Nil: without TLS.
	TLS *tls.Config

	// Limits bound what clients may use.
	Limits Limits
	// Drain is how long the server goes on serving at the end while /readyz fails,
	// so that load balancers send requests elsewhere. Default: 1s.
	Drain time.Duration
	// Grace is how long requests in flight may then take. Uploads are ended with an
	// error response after half of that time. Default: 30s.
	Grace time.Duration

	// Log receives errors and warnings. Default: slog.Default().
	Log *slog.Logger
	// Access logs every request; nil disables it.
	Access *slog.Logger
	// Now returns the time. Default: time.Now.
	Now func() time.Time

	ownClock bool // the caller has set Now
}

// Limits bound what clients may use. A zero field means its default.
type Limits struct {
	Connections int   // open at the same time; beyond, the one that waits longest for its client is closed. Default: 4096
	PerAddress  int   // connections from one address, or from one /64 of IPv6. Default: a quarter of Connections
	Requests    int   // worked on at the same time; more wait a moment. Default: 512, at most a quarter of Connections
	Memory      int64 // bytes that all requests and uploads together may take. Default: 1 GiB
	Uploads     int   // at the same time; more are refused. Default: 4
	Upload      int64 // bytes of one upload, as sent. Default: 4 GiB
	Unpacked    int64 // bytes of one upload after it was unpacked. Default: 64 GiB
	UploadIDs   int64 // ids in one upload; each takes 16 bytes of memory. Default: 20 million
	Body        int64 // bytes of any other request body. Default: 1 MiB
	IDs         int   // created by one request. Default and maximum: 10 million

	Header     time.Duration // to send the header of a request. Default: 10s
	Request    time.Duration // to send the body of a request that is not an upload. Default: 30s
	Response   time.Duration // to read a response, or each piece of one with ids, which must be read at 64 KiB/s. Default: 60s
	Idle       time.Duration // between two requests of a connection. Default: 2m
	UploadTime time.Duration // for one upload, which must also arrive at 16 KiB/s. Default: 1h
	Store      time.Duration // for the store to answer. Default: 5s
}

// maxIDs is the maximum in the description of the API.
const maxIDs = 10_000_000

// minToken is the number of characters that make a token hard to guess.
const minToken = 16

// ErrToken is wrapped by the errors of [New] and [Server.Serve] for a missing token
// or one that is too short.
var ErrToken = errors.New("server: token")

func (o *Options) withDefaults() (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	out.Tokens = slices.Clone(out.Tokens)
	if out.Token != "" {
		out.Tokens = append([]Token{{Name: "token", Value: out.Token}}, out.Tokens...)
	}
	if err := checkTokens(out.Tokens); err != nil {
		return out, err
	}
	if out.Addr != "" {
		if _, err := gpid.ParseAddr(out.Addr); err != nil {
			return out, fmt.Errorf("server: %w", err)
		}
	}
	if out.Grace < 0 || out.Drain < 0 || out.Session < 0 {
		return out, fmt.Errorf("server: grace of %v, drain of %v and session of %v, want no negative time", out.Grace, out.Drain, out.Session)
	}
	if out.Log == nil {
		out.Log = slog.Default()
	}
	if out.ownClock = out.Now != nil; !out.ownClock {
		out.Now = time.Now
	}
	orDefault(&out.Session, 12*time.Hour)
	orDefault(&out.Drain, time.Second)
	orDefault(&out.Grace, 30*time.Second)
	out.Limits.setDefaults()
	return out, nil
}

// DefaultLimits returns the limits that a zero Limits means.
func DefaultLimits() Limits {
	var l Limits
	l.setDefaults()
	return l
}

func (l *Limits) setDefaults() {
	orDefault(&l.Connections, 4096)
	orDefault(&l.PerAddress, max(1, l.Connections/4))
	orDefault(&l.Requests, 512)
	l.Requests = min(l.Requests, max(1, l.Connections/4)) // others can be closed for new ones
	orDefault(&l.Memory, 1<<30)
	orDefault(&l.Unpacked, 64<<30)
	orDefault(&l.Uploads, 4)
	orDefault(&l.Upload, 4<<30)
	orDefault(&l.UploadIDs, 20_000_000)
	orDefault(&l.Body, 1<<20)
	orDefault(&l.IDs, maxIDs)
	orDefault(&l.Header, 10*time.Second)
	orDefault(&l.Request, 30*time.Second)
	orDefault(&l.Response, time.Minute)
	orDefault(&l.Idle, 2*time.Minute)
	orDefault(&l.UploadTime, time.Hour)
	orDefault(&l.Store, 5*time.Second)
	l.IDs = min(l.IDs, maxIDs)
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
