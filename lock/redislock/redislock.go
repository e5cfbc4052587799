// Package redislock holds locks in Redis, for more than one machine. See package
// lock for what a lock promises and what it does not.
//
// Start with [Open], which connects to a Redis by its URL, or with [New], which
// uses a rueidis client that you have.
//
// # Protocol
//
// A lease comes only from the reply to the holder's own request: one script that
// writes the lock with a relative PX, so a lock never stays without a TTL and only
// the clock of Redis counts it. Every acquisition has an owner of its own. After a
// lost reply, another request finds that this owner has the lock, which is success.
// Renewing and releasing compare the owner and act in the same script.
//
// The holder counts the TTL from before its request was sent, on its own monotonic
// clock, and ends its lease a twentieth of the TTL early, whether or not Redis can
// be reached. So the lease of a holder that is cut off ends before the next holder
// can take the lock.
//
// Waiters queue. If the first of them is of the process that releases, the script gives
// it the lock, and its lease counts from before the release was sent: that request was
// its own as well. Otherwise a release reserves the lock for the first waiter for 150 ms,
// and publishes a hint to ask on the channel of that waiter's process. So one release
// wakes one waiter, however many wait. A hint never grants the lock: a waiter that
// gets an old one asks and is refused. In case the first waiter is dead, a waiter of
// another process gets a hint to ask after the reservation; the first request after
// the reservation takes the lock, empties the queue and makes all waiters ask again,
// with the tickets that they had. All waiters also ask without a hint, every two
// seconds at most and at the end of the holder's TTL.
//
// A waiter on the host of the holder, in the same pid namespace, watches the
// holder's process and releases its lock when the kernel reports that it has ended.
// TryAcquire looks once whether it has.
//
// # Clocks
//
// The time until the next holder can take a lock runs on the wall clock of Redis. If that
// clock is set forward by more than a twentieth of the TTL, the next holder may begin while
// the last still has a lease. If it is set back, the next fence may be lower than the last
// one, but only if nothing remembers that: Redis does while the lock is held, for one TTL
// after its release and while somebody waits, and each client remembers the highest fence
// that it saw.
//
// # Keys
//
// A lock has three keys, all with a TTL, and with the name as hash tag so that they
// are on one node of a Redis Cluster: oid:lock:{name} holds the owner and the fence, and
// the fence alone for one TTL after the release; oid:lock:{name}:queue and
// oid:lock:{name}:heard exist while somebody waits. One TTL after the last client has
// gone, none of them is left. oid:lock:{name}:note exists if [lock.Once] was called: it
// is the record of the last runs and lives for at least 35 days after the last.
//
// Redis 6.2 or later is needed. A user of an access control list needs the
// commands evalsha, eval, info, scan, subscribe and unsubscribe and those in the
// scripts, the keys oid:lock:* and the channels oid:lock:*.
package redislock

import (
	"bufio"
	"cmp"
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

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/objectid"
)

// Options tune a [Locker]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// TTL is how long a lease outlives its last renewal, and how long a lock outlives
	// a holder that has crashed, unless an Acquire chooses another TTL. It is between
	// [lock.MinTTL] and [lock.MaxTTL] and is rounded down to milliseconds.
	// Default: [lock.DefaultTTL].
	TTL time.Duration

	// Process is the identity of this process, which everyone sees as the
	// owner of its locks. Default: that of [gpid.Self] for a process that does not
	// listen.
	Process gpid.GPID

	// Events is called with every event of the locks of this Locker. It must return
	// soon and may be called by several goroutines at the same time. Nil disables it.
	Events func(lock.Event)

	// Warn is called while the Locker is created, with each setting of Redis that is
	// dangerous, such as dropping keys when the memory is full, or that it is a
	// read-only replica. Nodes that do not answer within 100 ms are left out.
	// Default: a warning in the log of [slog.Default].
	Warn func(error)
}

// maxTry is the longest that one request may take, whatever the TTL is.
const maxTry = time.Second

// Locker is a [lock.Locker] in Redis. Any number of goroutines may share one;
// one per process is enough. Make it with [Open] or [New]. List reads the names of all keys
// in Redis, in steps that do not stop others; with millions of keys that takes seconds.
type Locker struct {
	lock.Locker // all methods of [lock.Locker] but Close

	driver  Driver
	warn    func(error)
	owners  string // what the texts of all owners begin with
	channel string // on which waiters of this Locker get hints

	nonce atomic.Uint64
	seen  atomic.Uint64 // the highest fence of any lock
	calls *calls.Calls
	queue queue

	// reset drops connections that were opened before a request which got no
	// answer or that of another; nil if the client is not ours.
	reset func(before time.Time)
	// closeClient closes a client that is ours.
	closeClient func()
}

// New returns a Locker that uses client, which must live longer than the Locker
// and is not closed with it. It asks the nodes of Redis for settings with which locks
// are not safe there and waits a moment for their answers, see Options.Warn. The error
// is about o; whether Redis answers shows when a lock is acquired.
//
// The client should have a ConnWriteTimeout of about a second, as [Open] sets it:
// where a network swallows packets, that ends a dead connection.
func New(ctx context.Context, client Client, o *Options) (*Locker, error) {
	return NewWithDriver(ctx, &rueidisDriver{client: client}, o)
}

// NewWithDriver is [New] for other clients.
func NewWithDriver(ctx context.Context, d Driver, o *Options) (*Locker, error) {
	opts := *cmp.Or(o, &Options{})
	if opts.Warn == nil {
		opts.Warn = func(err error) { slog.Warn(err.Error()) }
	}
	c, err := calls.New(calls.Settings{Engine: "redislock", TTL: opts.TTL, Process: opts.Process, Events: opts.Events})
	if err != nil {
		return nil, err
	}
	l := &Locker{
		driver:  d,
		warn:    opts.Warn,
		owners:  c.Process().String() + "/",
		channel: "oid:lock:wake:" + objectid.New().String(),
		calls:   c,
		queue:   queue{waiting: make(map[string]*request), watches: make(map[string]*watch), changed: make(chan struct{})},
	}
	l.Locker = calls.NewLocker(c, calls.Backend{Acquire: l.acquire, Status: l.status, List: l.list, Note: l.note})
	l.nonce.Store(rand.Uint64())
	l.inspect(ctx)
	return l, nil
}

// Close ends waiting calls with [lock.ErrClosed], waits for the requests that
// are under way, and closes the client if [Open] made it. It does not release
// leases; those that are still held end at their deadlines.
func (l *Locker) Close() error {
	if l.calls.Close() && l.closeClient != nil {
		l.closeClient()
	}
	return nil
}

// The name between these is the key of a lock. The braces make it a hash tag.
const (
	keyPrefix = "oid:lock:{"
	keySuffix = "}"
)

// keysOf are the keys of a lock as the scripts take them.
func keysOf(name string) []string {
	const queueEnd, heardEnd = keySuffix + ":queue", keySuffix + ":heard"
	both := keyPrefix + name + queueEnd + keyPrefix + name + heardEnd // cut up, it is one allocation and not three
	n := len(keyPrefix) + len(name)
	return []string{both[:n+len(keySuffix)], both[:n+len(queueEnd)], both[n+len(queueEnd):]}
}

// eval runs a script and returns what it returned after the nonce. args[0] is for
// the nonce. Each request takes no longer than try, the first one from now.
func (l *Locker) eval(ctx context.Context, now time.Time, try time.Duration, s script, keys, args []string) (string, error) {
	// RESP has no numbers by which a reply finds its request; after one is lost,
	// all replies are those to other requests.
	nonce := strconv.FormatUint(l.nonce.Add(1), 36)
	args[0] = nonce
	attempt := l.limit(ctx, now, try)
	reply, err := l.driver.EvalSHA(attempt, s.sha1, keys, args)
	attempt.cancel()
	if isUnknownScript(err) {
		now = time.Now()
		attempt = l.limit(ctx, now, try)
		reply, err = l.driver.Eval(attempt, s.text, keys, args)
		attempt.cancel()
	}
	if err == nil {
		echo, rest, _ := strings.Cut(reply, " ")
		if echo == nonce {
			return rest, nil
		}
		err = errNonce
	} else if ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || code(err) == "" && time.Since(now) >= try) {
		err = calls.NoAnswer(try) // to this request or to the one that opens the connection
	} else {
		return "", err
	}
	if l.reset != nil {
		l.reset(now)
	}
	return "", err
}

// see remembers the highest fence.
func (l *Locker) see(fence uint64) {
	for {
		seen := l.seen.Load()
		if fence <= seen || l.seen.CompareAndSwap(seen, fence) {
			return
		}
	}
}

// guess returns a fence above all that were seen, or 0.
func (l *Locker) guess() uint64 {
	if seen := l.seen.Load(); seen > 0 {
		return seen + 1
	}
	return 0
}

// inspectTime is how long a new Locker waits for what its nodes say of their settings.
const inspectTime = 100 * time.Millisecond

// inspect warns of settings of Redis with which locks are not safe there. It refuses
// nothing: a lock needs the answer of one node, and that says itself what is wrong.
// Nodes that have not answered after inspectTime, or cannot be asked, are left out.
func (l *Locker) inspect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	for addr, text := range l.driver.Info(ctx) {
		info := parseInfo(text)
		switch replica, clustered := info["role"] == "slave", info["cluster_enabled"] == "1"; {
		case replica && !clustered:
			l.warn(fmt.Errorf("redislock: %s is a read-only replica: name the primary, at %s:%s, or a Sentinel", addr, info["master_host"], info["master_port"]))
		case !replica && info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction" && info["maxmemory_policy"] != "":
			l.warn(fmt.Errorf("redislock: %s drops locks when its memory is full: set maxmemory-policy to noeviction, it is %s", addr, info["maxmemory_policy"]))
		}
	}
}

// parseInfo returns the fields of the reply to INFO.
func parseInfo(text string) map[string]string {
	fields := make(map[string]string)
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok {
			fields[key] = value
		}
	}
	return fields
}

// limited is the context of one request. With a client of ours its channel is not
// closed at the deadline: then the connection ends on which the request waits. A channel
// for each request would cost as much as a good part of it.
type limited struct {
	context.Context
	l     *Locker
	end   time.Time
	stop  context.CancelFunc // nil for a client of ours
	timer *time.Timer        // ends connections of a client of ours

	mu     sync.Mutex
	opened time.Time // connections opened before are ended next
	done   bool
}

// limit returns the context of a request that takes no longer than d from now. The
// caller calls cancel.
func (l *Locker) limit(ctx context.Context, now time.Time, d time.Duration) *limited {
	c := &limited{Context: ctx, l: l, end: now.Add(d), opened: now}
	if at, ok := ctx.Deadline(); ok && at.Before(c.end) {
		c.end = at
	}
	if l.reset == nil {
		c.Context, c.stop = context.WithTimeout(ctx, d)
		return c
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(d+d/15, c.drop) // the client has its turn before
	return c
}

// Deadline returns the earlier of c's own deadline and its parent's.
func (c *limited) Deadline() (time.Time, bool) { return c.end, true }

// Err returns why a request may not be sent again, or nil.
func (c *limited) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(c.end) {
		return context.DeadlineExceeded
	}
	return nil
}

// drop ends the connections that were opened before the request began or the last drop,
// unless the request has ended. One that was opened later has longer.
func (c *limited) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.l.reset(c.opened)
		c.opened = time.Now()
		c.timer.Reset(maxTry)
	}
}

// cancel leaves the connections open.
func (c *limited) cancel() {
	if c.stop != nil {
		c.stop()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	c.timer.Stop()
}
