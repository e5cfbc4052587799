package redislock

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// Driver is what a [Locker] needs of a Redis client. [New] makes one of a rueidis
// client. All methods may be called at the same time.
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
	first, _, _ := strings.Cut(string(reply), " ")
	return first
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

// Client is what this package needs of a rueidis.Client.
type Client interface {
	B() rueidis.Builder
	Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult
	Dedicate() (client rueidis.DedicatedClient, release func())
	Nodes() map[string]rueidis.Client
}

// rueidisDriver is the [Driver] of a rueidis client.
type rueidisDriver struct {
	client Client
	busy   atomic.Int32 // requests that Redis may still have to answer
	met    atomic.Bool  // two requests have been on their way together
}

func (d *rueidisDriver) EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error) {
	return d.do(ctx, d.client.B().Evalsha().Sha1(sha1).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build())
}

func (d *rueidisDriver) Eval(ctx context.Context, text string, keys, args []string) (string, error) {
	return d.do(ctx, d.client.B().Eval().Script(text).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build())
}

// do sends a request. Requests that meet share the client's connection, on which from
// then on two of its goroutines write and read for all. With a client that [Open] made, one
// that is alone has another connection then, which it writes and reads itself.
func (d *rueidisDriver) do(ctx context.Context, cmd rueidis.Completed) (string, error) {
	meets := d.busy.Add(1) > 1
	if meets {
		d.met.Store(true)
	}
	if meets || !d.met.Load() {
		cmd = cmd.ToPipe()
	}
	reply, err := textOf(d.client.Do(ctx, cmd))
	if err != nil && ctx.Err() != nil {
		// It may still be on its way, and what follows must not overtake it.
		time.AfterFunc(maxTry, func() { d.busy.Add(-1) })
	} else {
		d.busy.Add(-1)
	}
	return reply, err
}

// textOf returns a reply as [Driver] wants it.
func textOf(result rueidis.RedisResult) (string, error) {
	s, err := result.ToString()
	if err == nil {
		return s, nil
	}
	if reply, ok := rueidis.IsRedisErr(err); ok && !reply.IsNil() {
		return "", ReplyError(reply.Error())
	}
	switch {
	case errors.Is(err, rueidis.ErrClosing):
		return "", ErrClientClosed
	case rueidis.IsParseErr(err), rueidis.IsRedisNil(err):
		return "", nil // not a text
	}
	return "", err
}

func (d *rueidisDriver) Subscribe(ctx context.Context, channel string, ready func(), message func(string)) error {
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(s rueidis.PubSubSubscription) {
		if s.Kind == "subscribe" {
			ready()
		}
	})
	// Goroutines of the client serve a connection with a subscription. One without is
	// served by who makes a request, which takes less time.
	c, release := d.client.Dedicate()
	defer release()
	defer c.Close()
	err := c.Receive(hooked, c.B().Subscribe().Channel(channel).Build(), func(m rueidis.PubSubMessage) { message(m.Message) })
	if reply, ok := rueidis.IsRedisErr(err); ok {
		return ReplyError(reply.Error())
	}
	return err
}

func (d *rueidisDriver) Info(ctx context.Context) map[string]string {
	type reply struct{ addr, text string }
	nodes := d.client.Nodes()
	replies := make(chan reply, len(nodes))
	for addr, node := range nodes {
		// A request to a node that is gone does not end with ctx.
		go func() {
			info, _ := textOf(node.Do(ctx, node.B().Info().Build().ToPipe()))
			replies <- reply{addr, info}
		}()
	}
	infos := make(map[string]string)
	for range nodes {
		select {
		case r := <-replies:
			if r.text != "" {
				infos[r.addr] = r.text
			}
		case <-ctx.Done():
			return infos
		}
	}
	return infos
}

func (d *rueidisDriver) Scan(ctx context.Context, pattern string, found func(string)) error {
	for _, node := range d.client.Nodes() {
		for cursor := uint64(0); ; {
			inner, cancel := context.WithTimeout(ctx, maxTry)
			page, err := node.Do(inner, node.B().Scan().Cursor(cursor).Match(pattern).Count(1000).Build().ToPipe()).AsScanEntry()
			cancel()
			if err != nil {
				return err
			}
			for _, key := range page.Elements {
				found(key)
			}
			if cursor = page.Cursor; cursor == 0 {
				break
			}
		}
	}
	return nil
}
