package lockfaults

import (
	"context"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// Own is this project's lock.
func Own() Subject {
	return Subject{Name: "oid", Open: func(ctx context.Context, url string, ttl time.Duration) (Client, error) {
		l, err := redislock.Open(ctx, url, &redislock.Options{TTL: ttl})
		if err != nil {
			return nil, err
		}
		return own{l}, nil
	}}
}

type own struct{ locker lock.Locker }

func (o own) Acquire(ctx context.Context, name string) (Lease, error) {
	lease, err := o.locker.Acquire(ctx, name)
	if err != nil {
		return nil, err // and not a Lease that holds nil
	}
	return lease, nil
}

func (o own) Close() { _ = o.locker.Close() }
