package redislock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/lock"
)

// Driver is what a [Locker] needs from a Redis client. [New] makes a Driver from a rueidis
// client; implement it to use another client. Goroutines must be able to share a Driver.
type Driver interface {
	// EvalSHA must run the script with this SHA-1 digest and return the text that the script
	// returned, or "" if it returned no text. It must return a [ReplyError] if Redis replies
	// with an error, and [ErrClientClosed] after the client was closed. This package passes
	// only keys with the same hash tag to one call.
	EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error)
	// Eval must do what EvalSHA does, but must send the text of the script.
	Eval(ctx context.Context, text string, keys, args []string) (string, error)
	// Publish must publish a message on a channel. Its error is as that of EvalSHA.
	Publish(ctx context.Context, channel, message string) error
	// Subscribe must subscribe to a channel, and call ready when the subscription has begun. It
	// must then call message for every message on the channel. When ctx ends or the connection
	// breaks, it must return an error.
	Subscribe(ctx context.Context, channel string, ready func(), message func(text string)) error
	// Info must send INFO to every node and return a map from the address of each node to its
	// reply, or to the sections memory and replication of it. It must leave out nodes that do
	// not reply before ctx ends.
	Info(ctx context.Context) map[string]string
	// Scan must call found for every key that matches a pattern, on every node. It may report
	// a key more than once.
	Scan(ctx context.Context, pattern string, found func(key string)) error
}

// ReplyError is an error reply of Redis. It begins with a code, such as OOM.
type ReplyError string

// Error returns the text of the reply.
func (e ReplyError) Error() string { return string(e) }

// Reply returns the reply or, if a script met an error in Redis 6, the reply to the script. It
// is without the general code ERR, which rueidis leaves out.
func (e ReplyError) Reply() string {
	reply := strings.TrimPrefix(string(e), "ERR ")
	if !strings.HasPrefix(reply, "Error running script") {
		return reply
	}
	// Each position within the script is "@user_script:N: " or "@user_script: N: ".
	_, reply, _ = strings.Cut(reply, "): ")
	for strings.HasPrefix(reply, "@user_script:") {
		_, reply, _ = strings.Cut(reply[len("@user_script:"):], ": ")
	}
	return strings.TrimPrefix(reply, "-")
}

// code returns the code of an error reply, or "" for any other error.
func code(err error) string {
	reply, _ := errors.AsType[ReplyError](err)
	first, _, _ := strings.Cut(reply.Reply(), " ")
	return first
}

// ErrClientClosed is the error that a [Driver] must return after its client was closed. Calls
// then fail at once instead of trying again.
var ErrClientClosed = fmt.Errorf("redislock: client is closed: %w", lock.ErrClosed)

// permanent reports whether the same request would fail again.
func permanent(err error) bool {
	return failure.Of(err).Kind == failure.Final || errors.Is(err, ErrClientClosed)
}

// isUnknownScript reports whether Redis does not know the script with that digest.
func isUnknownScript(err error) bool { return err != nil && code(err) == "NOSCRIPT" }

// errNonce: the reply belongs to another request.
var errNonce = errors.New("the reply belongs to another request")

// Client is the part of rueidis.Client that this package uses.
type Client interface {
	B() rueidis.Builder
	Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult
	Dedicate() (client rueidis.DedicatedClient, release func())
	Nodes() map[string]rueidis.Client
}

// rueidisDriver is the [Driver] of a rueidis client.
type rueidisDriver struct {
	client Client
	busy   atomic.Int32 // number of requests that Redis may not have answered yet
	met    atomic.Bool  // two requests have once been under way at the same time

	infos   map[string]string // the reply of Info, if it is known already
	trusted bool              // Redis wanted no password, so it hardly restricts this client: ask when somebody waits
}

func (d *rueidisDriver) EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error) {
	return d.do(ctx, d.client.B().Evalsha().Sha1(sha1).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build())
}

func (d *rueidisDriver) Eval(ctx context.Context, text string, keys, args []string) (string, error) {
	return d.do(ctx, d.client.B().Eval().Script(text).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build())
}

func (d *rueidisDriver) Publish(ctx context.Context, channel, message string) error {
	_, err := d.do(ctx, d.client.B().Publish().Channel(channel).Message(message).Build())
	return err
}

// do sends a request. Requests that are under way at the same time share one connection,
// which goroutines of the client read and write. After that has happened once, a request that
// is alone uses another connection, on which it reads and writes itself, if Open made the
// client. That is faster.
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
		// The request may still be under way, and a later one must not overtake it.
		time.AfterFunc(maxTry, func() { d.busy.Add(-1) })
	} else {
		d.busy.Add(-1)
	}
	return reply, err
}

// replyError returns an error reply as a [ReplyError], and other errors unchanged. It omits the
// arguments of a command that the server lacks.
func replyError(err error) error {
	reply, ok := rueidis.IsRedisErr(err)
	if !ok {
		return err
	}
	text, _, lacks := strings.Cut(reply.Error(), ", with args beginning with")
	if lacks {
		text += " (if the server is a proxy, use the address of the Redis behind it)"
	}
	return ReplyError(text)
}

// textOf returns a reply in the form that [Driver] promises.
func textOf(result rueidis.RedisResult) (string, error) {
	s, err := result.ToString()
	if err == nil {
		return s, nil
	}
	switch {
	case errors.Is(err, rueidis.ErrClosing):
		return "", ErrClientClosed
	case rueidis.IsParseErr(err), rueidis.IsRedisNil(err):
		return "", nil // not a text
	}
	return "", replyError(err)
}

func (d *rueidisDriver) Subscribe(ctx context.Context, channel string, ready func(), message func(string)) error {
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(s rueidis.PubSubSubscription) {
		if s.Kind == "subscribe" {
			ready()
		}
	})
	// A connection with a subscription needs goroutines of the client, which slow down other
	// requests. So the subscription gets a connection of its own.
	c, release := d.client.Dedicate()
	defer release()
	defer c.Close()
	err := c.Receive(hooked, c.B().Subscribe().Channel(channel).Build(), func(m rueidis.PubSubMessage) { message(m.Message) })
	return replyError(err)
}

func (d *rueidisDriver) Info(ctx context.Context) map[string]string {
	type reply struct{ addr, text string }
	if d.infos != nil {
		return d.infos
	}
	nodes := d.client.Nodes()
	replies := make(chan reply, len(nodes))
	for addr, node := range nodes {
		// A request to a node that is down does not end with ctx.
		go func() {
			info, err := textOf(node.Do(ctx, node.B().Info().Section("memory", "replication", "cluster").Build().ToPipe()))
			if err != nil { // Redis 6 knows only one section
				info, _ = textOf(node.Do(ctx, node.B().Info().Build().ToPipe()))
			}
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
				return replyError(err)
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
