package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store"
)

// Options tune a [Server]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// Open opens the store that holds the registry. It is called again after a
	// while if it fails, and the server closes what it returns. Nil: there is no
	// registry.
	Open func(context.Context) (store.Store, error)
	// OneHost reports whether only this host can reach the store that Open has
	// returned, see package registry. Nil: it is not known to be so.
	OneHost func(store.Store) bool
	// Addr is the ip:port that the registry records for the server. Default: that
	// of the listener.
	Addr string
	// Version is what the page, the API and the registry say.
	Version string

	// Token is what clients must send as a bearer token, and people to log in. At
	// least 16 characters. Default: none is wanted, which goes on a loopback
	// address only.
	Token string

	// Limits bound what clients may use.
	Limits Limits
	// Drain is for how long requests are still served when the server is to end,
	// while /readyz says no, so that load balancers can turn away. Default: 1s.
	Drain time.Duration
	// Grace is how long requests under way may then take to end. Uploads are cut
	// short with an answer at half of that time. Default: 30s.
	Grace time.Duration

	// Log is told what goes wrong. Default: slog.Default().
	Log *slog.Logger
	// Access is told every request. Nil: nobody is.
	Access *slog.Logger
	// Now returns the time. Default: time.Now.
	Now func() time.Time

	ownClock bool // Now is the caller's
}

// Limits bound what clients may use. Zero fields stand for the defaults.
type Limits struct {
	Connections int   // open at a time; more wait. Default: 4096
	Requests    int   // at work at a time; more wait for a moment. Default: 512
	Uploads     int   // at a time. Default: 4
	Upload      int64 // bytes of one upload, as sent. Default: 4 GiB
	UploadIDs   int64 // ids in one upload; each takes 16 bytes of memory. Default: 20 million
	Body        int64 // bytes of every other body. Default: 1 MiB
	IDs         int   // that one request may ask for. Default, and at most: 10 million

	Header     time.Duration // to send the header of a request. Default: 10s
	Request    time.Duration // to send the body of one that is no upload. Default: 30s
	Response   time.Duration // to take a response, or each piece of one with ids, which must be taken at 64 KiB/s. Default: 60s
	Idle       time.Duration // between two requests of a connection. Default: 2m
	UploadTime time.Duration // for one upload, which is also cut if it is slower than 16 KiB/s. Default: 1h
	Store      time.Duration // for the store to answer. Default: 5s
}

// maxIDs is how many ids one request may ask for, by the API's description.
const maxIDs = 10_000_000

// minToken is how many characters a token needs to be hard to guess.
const minToken = 16

// ErrToken is wrapped by the errors of [New] and [Server.Serve] for a token that
// is missing or too short.
var ErrToken = errors.New("server: token")

func (o *Options) withDefaults() (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Token != "" && len(out.Token) < minToken {
		return out, fmt.Errorf("%w of %d characters, want %d or more", ErrToken, len(out.Token), minToken)
	}
	if out.Addr != "" {
		if _, err := gpid.ParseAddr(out.Addr); err != nil {
			return out, fmt.Errorf("server: %w", err)
		}
	}
	if out.Grace < 0 || out.Drain < 0 {
		return out, fmt.Errorf("server: grace of %v and drain of %v, want no negative time", out.Grace, out.Drain)
	}
	if out.Log == nil {
		out.Log = slog.Default()
	}
	if out.ownClock = out.Now != nil; !out.ownClock {
		out.Now = time.Now
	}
	l := &out.Limits
	orDefault(&out.Drain, time.Second)
	orDefault(&out.Grace, 30*time.Second)
	orDefault(&l.Connections, 4096)
	orDefault(&l.Requests, 512)
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
	return out, nil
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
