package lock

import (
	"context"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/oidkit/oid/internal/lockfaults"
)

// subjects are all that is compared on Redis, oid first.
var subjects = []lockfaults.Subject{
	lockfaults.Own(),
	{Name: "bsm/redislock", Open: openRedislock},
	{Name: "redsync", Open: openRedsync},
	{Name: "rueidislock", Open: openRueidislock},
}

func TestMain(m *testing.M) {
	var all []lockfaults.Subject
	for _, table := range tables {
		all = append(all, table.subjects...)
	}
	lockfaults.Main(all...)
	os.Exit(m.Run())
}

// pause is the time between two looks at a lock of those that poll.
const pause = time.Millisecond

// goRedis returns a client for a URL of lockfaults: a server, a Cluster, or a
// Sentinel that knows the primary.
func goRedis(rawURL string) (redis.UniversalClient, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	if master := u.Query().Get("master_set"); master != "" {
		return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: master, SentinelAddrs: []string{u.Host}}), nil
	}
	if others := u.Query()["addr"]; others != nil {
		return redis.NewClusterClient(&redis.ClusterOptions{Addrs: append([]string{u.Host}, others...)}), nil
	}
	o, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	return redis.NewClient(o), nil
}

// watched is a lease whose holder knows that it holds while ctx goes on.
type watched struct {
	ctx     context.Context
	cancel  context.CancelFunc
	release func() error
}

func (w watched) Check() error  { return w.ctx.Err() }
func (w watched) Fence() uint64 { return 0 }

func (w watched) Release() error {
	w.cancel()
	return w.release()
}

// watch renews a lease every third of its TTL, as in the example "watchdog" of
// bsm/redislock, until a renewal fails.
func watch(ttl time.Duration, renew func(context.Context) error, release func() error) watched {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		t := time.NewTicker(ttl / 3)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if err := renew(ctx); err != nil {
					cancel()
					return
				}
			}
		}
	}()
	return watched{ctx, cancel, release}
}

type redislockClient struct {
	redis redis.UniversalClient
	lock  *redislock.Client
	ttl   time.Duration
}

func openRedislock(_ context.Context, url string, ttl time.Duration) (lockfaults.Client, error) {
	client, err := goRedis(url)
	if err != nil {
		return nil, err
	}
	return redislockClient{client, redislock.New(client), ttl}, nil
}

func (c redislockClient) Acquire(ctx context.Context, name string) (lockfaults.Lease, error) {
	l, err := c.lock.Obtain(ctx, name, c.ttl, &redislock.Options{RetryStrategy: redislock.LinearBackoff(pause)})
	if err != nil {
		return nil, err
	}
	return watch(c.ttl,
		func(ctx context.Context) error { return l.Refresh(ctx, c.ttl, nil) },
		func() error { return l.Release(context.Background()) }), nil
}

func (c redislockClient) Close() { c.redis.Close() }

type redsyncClient struct {
	redis redis.UniversalClient
	lock  *redsync.Redsync
	ttl   time.Duration
}

func openRedsync(_ context.Context, url string, ttl time.Duration) (lockfaults.Client, error) {
	client, err := goRedis(url)
	if err != nil {
		return nil, err
	}
	return redsyncClient{client, redsync.New(goredis.NewPool(client)), ttl}, nil
}

func (c redsyncClient) Acquire(ctx context.Context, name string) (lockfaults.Lease, error) {
	m := c.lock.NewMutex(name, redsync.WithExpiry(c.ttl), redsync.WithTries(1<<30), redsync.WithRetryDelay(pause))
	if err := m.LockContext(ctx); err != nil {
		return nil, err
	}
	return watch(c.ttl,
		func(ctx context.Context) error {
			ok, err := m.ExtendContext(ctx)
			if err == nil && !ok {
				err = redsync.ErrExtendFailed
			}
			return err
		},
		func() error {
			_, err := m.UnlockContext(context.Background())
			return err
		}), nil
}

func (c redsyncClient) Close() { c.redis.Close() }

type rueidislockClient struct{ lock rueidislock.Locker }

func openRueidislock(_ context.Context, url string, ttl time.Duration) (lockfaults.Client, error) {
	o, err := rueidis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: o, KeyPrefix: "{contended}", KeyValidity: ttl, ExtendInterval: ttl / 3, KeyMajority: 1, NoLoopTracking: true,
		// Within the default of 20 ms an answer may not come, and the lock is then
		// taken by nobody who knows.
		TryNextAfter: time.Second,
	})
	if err != nil {
		return nil, err
	}
	return rueidislockClient{l}, nil
}

func (c rueidislockClient) Acquire(ctx context.Context, name string) (lockfaults.Lease, error) {
	// The lock is bound to the ctx that it was asked for with.
	work, end := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, end)
	held, release, err := c.lock.WithContext(work, name)
	if err != nil {
		end()
		return nil, err
	}
	stop()
	return watched{held, end, func() error { release(); return nil }}, nil
}

func (c rueidislockClient) Close() { c.lock.Close() }
