// Package goredislock lets package redislock use a go-redis client, for programs
// that have one already. It is a module of its own, so that go-redis is no
// dependency of those that do not.
//
// Start with [New]. See package redislock for what a lock in Redis is, and package
// lock for what it promises.
package goredislock

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/oidkit/oid/lock/redislock"
)

// New returns a Locker that uses client: a redis.Client, also behind Sentinel, or
// a redis.ClusterClient. The client must live longer than the Locker and is not
// closed with it. New asks Redis for settings with which locks are not safe there, see
// [redislock.Options].
//
// The client's timeouts for dialing, reading and writing should be a sixth of the
// TTL or less, and about a second at most, or its ContextTimeoutEnabled set: a
// request to a Redis that does not answer ends no sooner.
func New(ctx context.Context, client redis.UniversalClient, o *redislock.Options) (*redislock.Locker, error) {
	return redislock.NewWithDriver(ctx, Driver(client), o)
}

// Driver returns a driver for client, for [redislock.NewWithDriver] and
// [redislock.Guard].
func Driver(client redis.UniversalClient) redislock.Driver { return driver{client} }

type driver struct{ client redis.UniversalClient }

func (d driver) EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error) {
	return text(d.client.EvalSha(ctx, sha1, keys, values(args)...))
}

func (d driver) Eval(ctx context.Context, script string, keys, args []string) (string, error) {
	return text(d.client.Eval(ctx, script, keys, values(args)...))
}

func values(args []string) []any {
	all := make([]any, len(args))
	for i, arg := range args {
		all[i] = arg
	}
	return all
}

// text returns a reply as [redislock.Driver] wants it.
func text(cmd *redis.Cmd) (string, error) {
	reply, err := cmd.Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", translate(err)
	}
	s, _ := reply.(string)
	return s, nil
}

// translate returns an error as [redislock.Driver] wants it.
func translate(err error) error {
	var reply redis.Error
	switch {
	case errors.Is(err, redis.ErrClosed):
		return redislock.ErrClientClosed
	case errors.As(err, &reply):
		return redislock.ReplyError(err.Error())
	}
	return err
}

func (d driver) Subscribe(ctx context.Context, channel string, ready func(), message func(string)) error {
	sub := d.client.Subscribe(ctx, channel)
	defer sub.Close()
	// Receive does not look at ctx while it waits.
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer stop()
	for {
		m, err := sub.Receive(ctx)
		if err != nil {
			return translate(err)
		}
		switch m := m.(type) {
		case *redis.Subscription:
			if m.Kind == "subscribe" {
				ready()
			}
		case *redis.Message:
			message(m.Payload)
		}
	}
}

// each calls f for every primary of a cluster, or for the one server, one after
// the other.
func (d driver) each(ctx context.Context, f func(ctx context.Context, node *redis.Client) error) error {
	switch c := d.client.(type) {
	case *redis.Client:
		return f(ctx, c)
	case interface {
		ForEachMaster(context.Context, func(context.Context, *redis.Client) error) error
	}:
		var mu sync.Mutex
		return c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			return f(ctx, node)
		})
	}
	return errors.New("goredislock: client is neither a redis.Client nor one of a cluster")
}

func (d driver) Info(ctx context.Context) map[string]string {
	infos := make(map[string]string)
	// A cluster whose nodes cannot be listed has no settings to warn of.
	_ = d.each(ctx, func(ctx context.Context, node *redis.Client) error {
		if info, err := node.Info(ctx).Result(); err == nil {
			infos[node.Options().Addr] = info
		}
		return nil
	})
	return infos
}

func (d driver) Scan(ctx context.Context, pattern string, found func(string)) error {
	return translate(d.each(ctx, func(ctx context.Context, node *redis.Client) error {
		keys := node.Scan(ctx, 0, pattern, 1000).Iterator()
		for keys.Next(ctx) {
			found(keys.Val())
		}
		return keys.Err()
	}))
}
