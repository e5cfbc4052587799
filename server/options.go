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
	"github.com/oidkit/oid/server/door"
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
type Limits = door.Limits

// Token permits its bearer to use the server.
type Token = door.Token

// ErrToken is wrapped by the errors of [New] and [Server.Serve] for a missing token
// or one that is too short.
var ErrToken = door.ErrToken

func (o *Options) withDefaults() (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
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
		return out, fmt.Errorf("server: grace of %v, drain of %v and session of %v, want no negative time", out.Grace, out.Drain, out.Session)
	}
	if out.Log == nil {
		out.Log = slog.Default()
	}
	if out.ownClock = out.Now != nil; !out.ownClock {
		out.Now = time.Now
	}
	out.Session = cmp.Or(out.Session, 12*time.Hour)
	out.Drain = cmp.Or(out.Drain, time.Second)
	out.Grace = cmp.Or(out.Grace, 30*time.Second)
	out.Limits = out.Limits.WithDefaults()
	return out, nil
}

// DefaultLimits returns the limits that a zero Limits means.
func DefaultLimits() Limits { return Limits{}.WithDefaults() }
