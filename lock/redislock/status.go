package redislock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	var reply string
	var err error
	for range tries {
		reply, err = l.eval(ctx, statusScript, keys(name))
		if err == nil || permanent(err) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return free, err
	}
	fields := strings.SplitN(reply, " ", 3) // waiters, ttl, value
	if len(fields) != 3 {
		return free, errNonce
	}
	if !strings.Contains(fields[2], " ") && isDigits(fields[2]) {
		return free, nil // the last fence, or nothing
	}
	v, err := parseValue(fields[2])
	if err != nil {
		return free, err
	}
	waiters, err1 := strconv.Atoi(fields[0])
	ttl, err2 := strconv.ParseInt(fields[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return free, err
	}
	s, err := v.status(name, time.Duration(ttl)*time.Millisecond)
	s.Waiters = waiters
	return s, err
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

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
		try := &deadline{Context: ctx, at: time.Now().Add(maxTry)}
		page, err := node.Do(try, node.B().Scan().Cursor(cursor).Match(keyPrefix+"*"+keySuffix).Count(1000).Build()).AsScanEntry()
		try.cancel()
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
