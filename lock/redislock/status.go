package redislock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/lock"
)

// Status tells who has the lock, see [lock.Locker].
func (l *Locker) Status(ctx context.Context, name string) (lock.Status, error) {
	if err := lock.CheckName(name); err != nil {
		return lock.Status{}, fmt.Errorf("redislock: %w", err)
	}
	if err := l.begin(); err != nil {
		return lock.Status{}, err
	}
	defer l.calls.Done()
	s, err := l.status(ctx, name)
	if err != nil {
		return lock.Status{}, fmt.Errorf("redislock: status of %q: %w", name, err)
	}
	return s, nil
}

func (l *Locker) status(ctx context.Context, name string) (lock.Status, error) {
	free := lock.Status{Name: name}
	reply, err := l.eval(ctx, statusScript, keys(name))
	if err != nil {
		return free, err
	}
	if len(reply) != 3 {
		return free, errNonce
	}
	text, err := reply[0].ToString()
	if rueidis.IsRedisNil(err) {
		return free, nil
	}
	ttl, err1 := reply[1].AsInt64()
	waiters, err2 := reply[2].AsInt64()
	if err := errors.Join(err, err1, err2); err != nil {
		return free, err
	}
	v, err := parseValue(text)
	if err != nil {
		return free, err
	}
	s, err := v.status(name, time.Duration(ttl)*time.Millisecond)
	s.Waiters = int(waiters)
	return s, err
}

// List returns the status of every lock that is held, see [lock.Locker]. It
// reads the names of all keys in Redis, in steps that do not stop others; with
// millions of keys that takes seconds.
func (l *Locker) List(ctx context.Context) ([]lock.Status, error) {
	if err := l.begin(); err != nil {
		return nil, err
	}
	defer l.calls.Done()
	found := make(map[string]struct{}) // a scan may name a key twice, and replicas name it too
	for _, node := range l.client.Nodes() {
		if err := scan(ctx, node, found); err != nil {
			return nil, fmt.Errorf("redislock: list: %w", err)
		}
	}
	var held []lock.Status
	for name := range found {
		s, err := l.status(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("redislock: status of %q: %w", name, err)
		}
		if s.Held {
			held = append(held, s)
		}
	}
	slices.SortFunc(held, func(a, b lock.Status) int { return strings.Compare(a.Name, b.Name) })
	return held, nil
}

// scan puts the names of the locks that a node has into found.
func scan(ctx context.Context, node rueidis.Client, found map[string]struct{}) error {
	for cursor := uint64(0); ; {
		page, err := node.Do(ctx, node.B().Scan().Cursor(cursor).Match(keyPrefix+"*"+keySuffix).Count(1000).Build()).AsScanEntry()
		if err != nil {
			return err
		}
		for _, key := range page.Elements {
			name := strings.TrimSuffix(strings.TrimPrefix(key, keyPrefix), keySuffix)
			if lock.CheckName(name) == nil {
				found[name] = struct{}{}
			}
		}
		if cursor = page.Cursor; cursor == 0 {
			return nil
		}
	}
}
