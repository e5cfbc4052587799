// Package redislock holds locks in Redis, for more than one machine. See package
// lock for what a lock promises and what it cannot.
//
// Start with [Open], which connects to a Redis by its URL, or with [New], which
// uses a client that you have.
//
// # What Redis does for a lock
//
// Taking the lock is one script with SET and a relative PX, so a lock never
// stays without a TTL, and only the clock of Redis counts it. Every request
// carries an owner of its own. Asking again after a lost reply therefore finds
// the lock taken by oneself, which is success; renewing and giving back compare
// the owner and act in the same script.
//
// The holder counts from before its request was sent, on its own monotonic
// clock, and ends its lease a twentieth of the TTL early, whether or not Redis
// can be reached. So a holder that is cut off has stopped before the lock can be
// taken by the next.
//
// Waiters stand in line. Whoever gives the lock back hands it to the first in
// line in the same script and publishes that on the channel of the waiter's
// process, so that one release wakes one waiter and costs two commands, however
// many wait. Waiters that nobody can tell are passed over. A poll when the
// holder's TTL is over, and every third of the own, covers holders that have
// crashed and messages that were lost.
//
// # Keys
//
// A lock has two keys, both with a TTL, and with the name as hash tag so that they
// live on one node of a Redis Cluster: oid:lock:{name} says who has it, and for one
// TTL after that which fence it had; oid:lock:{name}:line is the line of waiters.
// None is left one TTL after the last client has gone.
//
// Redis 6.2 or later is needed. A user of an access control list needs the
// commands evalsha, eval, info, scan, subscribe and unsubscribe and those in the
// scripts, the keys oid:lock:* and the channels oid:lock:*.
package redislock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/objectid"
)

// Client is what this package needs of a rueidis.Client.
type Client interface {
	B() rueidis.Builder
	Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult
	Receive(ctx context.Context, subscribe rueidis.Completed, fn func(rueidis.PubSubMessage)) error
	Nodes() map[string]rueidis.Client
	Mode() rueidis.ClientMode
}

// Options tune a [Locker]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// TTL is how long a lease outlives its last renewal, and a lock a holder
	// that has crashed. It lies between [lock.MinTTL] and [lock.MaxTTL] and is
	// rounded down to milliseconds. Default: [lock.DefaultTTL].
	TTL time.Duration

	// Process is the identity of this process, which everybody sees as the
	// owner of its locks. Default: that of [gpid.Self] for a process that listens
	// on nothing.
	Process gpid.GPID

	// Warn is called while the Locker is made with everything that is dangerous
	// though it works, such as a Redis that drops keys when its memory is full.
	// Default: a warning in the log of [slog.Default].
	Warn func(error)
}

func (o *Options) withDefaults() (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	if out.TTL == 0 {
		out.TTL = lock.DefaultTTL
	}
	if err := lock.CheckTTL(out.TTL); err != nil {
		return out, err
	}
	out.TTL = out.TTL.Truncate(time.Millisecond)
	if out.Process.IsZero() {
		self, err := gpid.Self("")
		if err != nil {
			return out, err
		}
		out.Process = self
	}
	if out.Warn == nil {
		out.Warn = func(err error) { slog.Warn(err.Error()) }
	}
	return out, nil
}

// maxTry is the longest that one request may take, whatever the TTL is.
const maxTry = time.Second

// Locker is a [lock.Locker] in Redis. Any number of goroutines may share one;
// one per process is enough. Make it with [Open] or [New].
type Locker struct {
	client  Client
	ttl     time.Duration
	ttlText string // in milliseconds
	try     time.Duration
	process gpid.GPID
	owners  string // what the texts of all owners begin with
	deaf    string // "1" if a release cannot tell whether anybody listens, else "0"

	nonce    atomic.Uint64
	seen     atomic.Uint64 // the highest fence of any lock
	line     line
	renewals engine.Renewals

	// reset drops connections that were opened before a request which got no
	// answer or that of another; nil if the client is not ours.
	reset func(before time.Time)
	// closeClient closes a client that is ours.
	closeClient func()

	closing context.Context
	close   context.CancelFunc
	mu      sync.Mutex // orders begin and Close
	calls   sync.WaitGroup
}

// New returns a Locker that uses client, which must live longer than the Locker
// and is not closed with it. It asks Redis at once whether locks can be kept
// there; the error says why not.
//
// A client of your own should have a ConnWriteTimeout of about a second: where a
// network swallows packets, that is what ends a connection of which nothing more
// is to be expected. [Open] does so by itself.
func New(ctx context.Context, client Client, o *Options) (*Locker, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("redislock: %w", err)
	}
	l := newLocker(client, opts)
	if err := l.inspect(ctx, opts.Warn); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func newLocker(client Client, opts Options) *Locker {
	l := &Locker{
		client:  client,
		ttl:     opts.TTL,
		ttlText: strconv.FormatInt(opts.TTL.Milliseconds(), 10),
		try:     min(opts.TTL/6, maxTry),
		process: opts.Process,
		owners:  opts.Process.String() + "/",
		deaf:    "0",
	}
	if client.Mode() == rueidis.ClientModeCluster {
		l.deaf = "1" // PUBLISH counts the listeners of one node only
	}
	l.nonce.Store(rand.Uint64())
	l.line.init("oid:lock:wake:" + objectid.New().String())
	l.closing, l.close = context.WithCancel(context.Background())
	return l
}

// Close ends waiting calls with [lock.ErrClosed], waits for the requests that
// are under way, and closes the client if [Open] made it. It does not release
// leases; those that are still held end at their deadlines.
func (l *Locker) Close() error {
	l.mu.Lock()
	already := l.closing.Err() != nil
	l.close()
	l.mu.Unlock()
	if already {
		return nil
	}
	l.calls.Wait()
	if l.closeClient != nil {
		l.closeClient()
	}
	return nil
}

// begin counts a call that Close has to wait for, unless Close came first. The
// caller calls l.calls.Done.
func (l *Locker) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Err() != nil {
		return lock.ErrClosed
	}
	l.calls.Add(1)
	return nil
}

// keys are the two keys of a lock.
func keys(name string) []string {
	base := keyPrefix + name + keySuffix
	return []string{base, base + ":line"}
}

// The name between these is the key of a lock. The braces make it a hash tag.
const (
	keyPrefix = "oid:lock:{"
	keySuffix = "}"
)

// errNonce means that a reply was not that to the request.
var errNonce = errors.New("the reply belongs to another request")

// eval runs a script, by its digest where Redis knows it, and returns what it
// returned after the nonce. The request takes no longer than l.try.
func (l *Locker) eval(ctx context.Context, s script, keys []string, args ...string) (string, error) {
	began := time.Now()
	// RESP has no numbers by which a reply finds its request; where one was lost
	// or came twice, all that follow are those to other requests.
	nonce := strconv.FormatUint(l.nonce.Add(1), 36)
	try := &deadline{Context: ctx, at: began.Add(l.try)}
	defer try.cancel()
	numkeys := int64(len(keys))
	result := l.client.Do(try, l.client.B().Evalsha().Sha1(s.sha1).Numkeys(numkeys).Key(keys...).Arg(nonce).Arg(args...).Build())
	if e, ok := rueidis.IsRedisErr(result.Error()); ok && e.IsNoScript() {
		result = l.client.Do(try, l.client.B().Eval().Script(s.text).Numkeys(numkeys).Key(keys...).Arg(nonce).Arg(args...).Build())
	}
	reply, err := result.ToString()
	if err == nil {
		echo, rest, _ := strings.Cut(reply, " ")
		if echo == nonce {
			return rest, nil
		}
		err = errNonce
	} else if rueidis.IsParseErr(err) || rueidis.IsRedisNil(err) { // not even a text
		err = errNonce
	}
	if l.reset != nil && ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNonce)) {
		l.reset(began)
	}
	return "", err
}
