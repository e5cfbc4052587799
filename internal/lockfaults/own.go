package lockfaults

import (
	"context"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
)

// Own is this project's lock in Redis.
func Own() Subject {
	return Subject{Name: "oid", Runs: true, Open: func(ctx context.Context, url string, ttl time.Duration) (Client, error) {
		l, err := redislock.Open(ctx, url, &redislock.Options{TTL: ttl})
		if err != nil {
			return nil, err
		}
		return own{l}, nil
	}}
}

type own struct{ locker lock.Locker }

func (o own) Acquire(ctx context.Context, name string) (Lease, error) {
	lease, err := o.locker.Acquire(ctx, name, nil)
	if err != nil {
		return nil, err // not a Lease that contains a nil *lock.Lease
	}
	return lease, nil
}

func (o own) Lead(ctx context.Context, name string, f func(context.Context, Lease) error) error {
	return lock.Lead(ctx, o.locker, name, func(ctx context.Context, lease *lock.Lease) error { return f(ctx, lease) }, nil)
}

func (o own) Once(ctx context.Context, name string, f func(context.Context, Lease) error) error {
	_, err := lock.Once(ctx, o.locker, name, lock.KeySchedule("job"), func(ctx context.Context, lease *lock.Lease, _ lock.Run) error {
		return f(ctx, lease)
	}, nil)
	return err
}

func (o own) Close() { _ = o.locker.Close() }

// OwnOnPostgres is this project's lock in a store on PostgreSQL.
func OwnOnPostgres() Subject {
	return Subject{Name: "oid on PostgreSQL", Runs: true, Open: func(ctx context.Context, url string, ttl time.Duration) (Client, error) {
		s, err := pgstore.Open(ctx, url)
		if err != nil {
			return nil, err
		}
		l, err := storelock.New(s, &storelock.Options{TTL: ttl})
		if err != nil {
			_ = s.Close()
			return nil, err
		}
		return stored{own{l}, s}, nil
	}}
}

type stored struct {
	own
	store store.Store
}

func (s stored) Close() {
	s.own.Close()
	_ = s.store.Close()
}
