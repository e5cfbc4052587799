package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/server/internal/door"
	"github.com/oidkit/oid/store"
)

// Options configure a [Server]. A nil pointer and the zero value mean the defaults.
type Options struct {
	// Open opens the store that holds the registry. After an error the server calls it
	// again. The server closes the store at the end. If Open is nil, there is no registry.
	Open func(context.Context) (store.Store, error)
	// StoreName is what the page calls the store, such as PostgreSQL. If it is empty, the
	// page does not name the store.
	StoreName string
	// OneHost is your promise that only this host can reach the store. Set it for a local
	// file. The server does not check it; registry.Options says what follows from it.
	OneHost bool
	// OpenLocks opens the backend of the locks that the server shows. The server closes
	// the Locker at the end. If OpenLocks is nil, the server shows no locks.
	OpenLocks func(context.Context) (lock.Locker, error)
	// Addr is the ip:port that the registry records for the server. Default: the
	// address of the listener.
	Addr string
	// Version is the version of the program, which the page, the API and the registry
	// show. Default: none.
	Version string

	// Token is the bearer token of API requests and the password of the login page.
	// It must have at least 128 random bits, such as the 32 digits that
	// "openssl rand -hex 16" prints; docs/deploy.md says which values are refused. A
	// server without tokens must listen on a loopback address, see [Server.Serve].
	Token string
	// Tokens are further tokens. No two tokens may have the same name or value. The token in
	// the field Token has the name "token".
	Tokens []Token
	// Session is how long a login on the page lasts. Default: 12h.
	Session time.Duration

	// BaseURL is the URL at which clients reach the server if it is behind a proxy, such
	// as https://host/oid/. The server then answers requests for this host, and all its
	// paths are below the path of this URL. If the scheme is https, browsers send the login
	// cookie only over TLS. Default: clients reach the server at the address of the listener.
	BaseURL string
	// TrustedProxies are the addresses of proxies whose headers X-Forwarded-For and
	// X-Forwarded-Proto are believed. A proxy that connects to a Unix socket is always
	// trusted. Default: none.
	TrustedProxies []netip.Prefix
	// TLS configures TLS. If it is nil, the server serves without TLS.
	TLS *tls.Config

	// Links are templates of the form NAME=URL, from which the page and the API make the links
	// for an id, such as to the logs of its process. The help of "oid trace" says which
	// placeholders a URL may have. Default: no links.
	Links []string

	// Limits bound what clients may use, such as connections and memory.
	Limits Limits
	// Drain is how long the server keeps serving after the context of Serve is done.
	// During that time GET /readyz fails, so that load balancers send requests elsewhere.
	// Default: 1s.
	Drain time.Duration
	// Grace is how long requests in flight may take after Drain has passed. When half of
	// Grace has passed, the server aborts uploads with an error response. Default: 30s.
	Grace time.Duration

	// Serving is called once, when the server begins to answer requests. It may be nil.
	Serving func()
	// Log receives errors and warnings. Default: slog.Default().
	Log *slog.Logger
	// Access logs every request. If it is nil, requests are not logged.
	Access *slog.Logger
	// Now returns the time. Default: time.Now.
	Now func() time.Time

	ownClock bool // the caller has set Now
}

// Limits bound what clients may use. A zero field means its default.
type Limits struct {
	// Connections is the maximum number of open connections. A further connection replaces
	// the one whose client has kept the server waiting longest. If the server waits for no
	// client, the further connection is closed. Default: 4096.
	Connections int
	// PerAddress is the maximum number of open connections from one IPv4 address or one
	// IPv6 /64 network. Default: a quarter of Connections.
	PerAddress int
	// Requests is the maximum number of requests that the server works on at once. A
	// further request waits for up to five seconds. Default: 512, but no more than a quarter
	// of Connections.
	Requests int
	// Memory is the maximum number of bytes that all requests and uploads together may
	// take. Default: 1 GiB.
	Memory int64
	// Uploads is the maximum number of uploads that run at once. When a further upload
	// begins, the server ends the slowest of those that arrive at less than 1 MiB/s or whose
	// client sends several. If there is none of these, it refuses the further upload.
	// Default: 4.
	Uploads int
	// Upload is the maximum size of an upload in bytes, as sent. Default: 4 GiB.
	Upload int64
	// Unpacked is the maximum size of an upload in bytes after it was unpacked.
	// Default: 64 GiB.
	Unpacked int64
	// UploadIDs is the maximum number of ids in an upload. Each takes 16 bytes of
	// memory. Default: 20 million.
	UploadIDs int64
	// Body is the maximum size in bytes of a request body that is not an upload.
	// Default: 1 MiB.
	Body int64

	// Header is how long a client may take to send the header of a request.
	// Default: 10s.
	Header time.Duration
	// Request is how long a client may take to send a body that is not an upload.
	// Default: 30s.
	Request time.Duration
	// Response is how long a client may take to read a response. Default: 60s.
	Response time.Duration
	// Idle is how long a connection may be open without a request. Default: 2m.
	Idle time.Duration
	// UploadTime is how long an upload may take. An upload is also aborted if it arrives
	// at less than 16 KiB/s. Default: 1h.
	UploadTime time.Duration
	// Store is how long the server waits for an answer of the store, or of the backend
	// of the locks. Default: 5s.
	Store time.Duration
}

// DefaultLimits returns the limits that the zero Limits means.
func DefaultLimits() Limits { return Limits{}.withDefaults() }

// withDefaults returns l with the defaults in place of its zero fields.
func (l Limits) withDefaults() Limits {
	l.Connections = cmp.Or(l.Connections, 4096)
	l.PerAddress = cmp.Or(l.PerAddress, max(1, l.Connections/4))
	l.Requests = cmp.Or(l.Requests, 512)
	l.Requests = min(l.Requests, max(1, l.Connections/4)) // so that there are connections to close for new ones
	l.Memory = cmp.Or(l.Memory, 1<<30)
	l.Unpacked = cmp.Or(l.Unpacked, 64<<30)
	l.Uploads = cmp.Or(l.Uploads, 4)
	l.Upload = cmp.Or(l.Upload, 4<<30)
	l.UploadIDs = cmp.Or(l.UploadIDs, 20_000_000)
	l.Body = cmp.Or(l.Body, 1<<20)
	l.Header = cmp.Or(l.Header, 10*time.Second)
	l.Request = cmp.Or(l.Request, 30*time.Second)
	l.Response = cmp.Or(l.Response, time.Minute)
	l.Idle = cmp.Or(l.Idle, 2*time.Minute)
	l.UploadTime = cmp.Or(l.UploadTime, time.Hour)
	l.Store = cmp.Or(l.Store, 5*time.Second)
	return l
}

// Token permits its bearer to use the server.
type Token struct {
	// Name says what the token is for; messages contain it. No two tokens may have the same name.
	Name string
	// Value is the secret. It must have at least 128 random bits: for example, use the 32
	// digits that "openssl rand -hex 16" prints.
	Value string
	// ReadOnly permits all requests except those that create ids or change the registry.
	ReadOnly bool
	// Position says where the token was read, such as "in tokens.txt, line 3". Errors name
	// it, never the token. Default: the number of the token, such as "2 of 3".
	Position string
}

// ErrToken is wrapped by the errors of [New] and [Server.Serve] about tokens: a token is
// missing, cannot have 128 random bits, or has the name or value of another one.
var ErrToken = door.ErrToken

func (o *Options) withDefaults() (Options, error) {
	out := *cmp.Or(o, &Options{})
	out.Tokens = slices.Clone(out.Tokens)
	if out.Token != "" {
		out.Tokens = append([]Token{{Name: "token", Value: out.Token}}, out.Tokens...)
	}
	if out.Addr != "" {
		if _, err := gpid.ParseAddr(out.Addr); err != nil {
			return out, fmt.Errorf("server: %w", err)
		}
	}
	if out.Grace < 0 || out.Drain < 0 || out.Session < 0 {
		return out, fmt.Errorf("server: negative option: grace %v, drain %v, session %v", out.Grace, out.Drain, out.Session)
	}
	if out.Serving == nil {
		out.Serving = func() {}
	}
	out.Log = cmp.Or(out.Log, slog.Default())
	if out.ownClock = out.Now != nil; !out.ownClock {
		out.Now = time.Now
	}
	out.Session = cmp.Or(out.Session, 12*time.Hour)
	out.Drain = cmp.Or(out.Drain, time.Second)
	out.Grace = cmp.Or(out.Grace, 30*time.Second)
	out.Limits = out.Limits.withDefaults()
	return out, nil
}
