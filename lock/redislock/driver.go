package redislock

import (
	"context"
	"errors"
	"strings"
)

// Driver is what a [Locker] needs of a Redis client. [New] makes one of a rueidis
// client, package goredislock one of a go-redis client. All methods may be called
// at the same time.
type Driver interface {
	// EvalSHA runs the script with a digest and returns the text that it
	// returned, or "" if that is not a text. Keys of one call have the same hash
	// tag. An error reply of Redis is returned as a [ReplyError], and use after
	// the client's end as [ErrClientClosed].
	EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error)
	// Eval is EvalSHA with the text of the script.
	Eval(ctx context.Context, text string, keys, args []string) (string, error)
	// Subscribe calls message for every message to a channel until ctx ends or
	// the connection breaks; it then returns an error. It calls ready once
	// messages come in.
	Subscribe(ctx context.Context, channel string, ready func(), message func(text string)) error
	// Info returns the reply to INFO of every node that answers before ctx ends, by
	// address.
	Info(ctx context.Context) map[string]string
	// Scan calls found with every key of every node that matches a pattern,
	// maybe more than once.
	Scan(ctx context.Context, pattern string, found func(key string)) error
}

// ReplyError is an error reply of Redis, which begins with a code such as OOM.
type ReplyError string

// Error returns the reply.
func (e ReplyError) Error() string { return string(e) }

// code returns the code of an error reply, or "" for other errors.
func code(err error) string {
	var reply ReplyError
	errors.As(err, &reply)
	code, _, _ := strings.Cut(string(reply), " ")
	return code
}

// ErrClientClosed is returned by drivers whose client was closed.
var ErrClientClosed = errors.New("redislock: client is closed")

// permanent reports whether the same request would get the same error again.
func permanent(err error) bool {
	switch code(err) {
	case "": // of the network
		return errors.Is(err, ErrClientClosed)
	case "LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS", "MOVED", "ASK":
		return false // a failover or a start, which ends
	}
	return true
}

// isUnknownScript reports whether Redis has not seen the script that it was to run.
func isUnknownScript(err error) bool { return err != nil && code(err) == "NOSCRIPT" }

// errNonce means that a reply does not belong to the request.
var errNonce = errors.New("the reply belongs to another request")
