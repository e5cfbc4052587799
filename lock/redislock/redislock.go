// Package redislock keeps locks in Redis, for several machines. Package lock says what a lock
// promises and what it does not.
//
// Start with [Open], which connects to the Redis at a URL, or with [New], which uses your
// rueidis client. Redis 6.2 or later is needed.
//
// # Protocol
//
// A holder gets, renews and releases a lock by scripts that Redis runs. Each script compares
// the owner and acts in one step. A lock has a TTL, and Redis frees the lock when its own clock
// says that the TTL has passed.
//
// Each call of Acquire has a new owner, and may send its request several times. If a reply was
// lost, the next reply may say that this owner already has the lock: that is success.
//
// The holder also counts the TTL, on its monotonic clock, beginning before it sends the
// request. It ends its lease a twentieth of the TTL before the TTL has passed, even if Redis
// cannot be reached. So a holder that is cut off ends its lease before the next holder can take
// the lock.
//
// # Waiting
//
// Where nobody waits in Redis, a waiter whose own process has the lock, or asks for it, waits
// within the process for up to 10 ms. A release in that time gives it the lock, unless a waiter of
// another process has come to Redis meanwhile.
//
// Other waiters queue in Redis, each with a ticket that keeps its position. A release does one
// of two things:
//
//   - If the first waiter is in the process that releases the lock, the release gives it the
//     lock at once. Its lease counts from before the release was sent.
//   - Otherwise the release reserves the lock for the first waiter for 150 ms, and publishes
//     a hint on the channel of that waiter's process: the waiter then asks for the lock. So
//     one release wakes one waiter. A hint never grants a lock: a waiter that gets an
//     outdated hint asks and is refused.
//
// The first waiter may be dead. So the release also publishes a hint to a waiter of another
// process, which asks after the 150 ms. The first request that arrives after the reservation
// has ended takes the lock and empties the queue. All waiters then ask again, with their old
// tickets, so those that are alive keep their order. Waiters also ask without a hint, at least
// every two seconds and at the end of the holder's TTL.
//
// If a waiter is on the holder's host, in the same pid namespace, the waiter watches the
// holder's process. When the kernel reports that this process and its group (see
// [lock.AcquireOptions.Group]) have ended, the waiter releases the lock for the dead holder.
// TryAcquire looks once whether they have ended.
//
// # Clocks
//
// Redis expires locks by its wall clock. If that clock is set forward by more than a
// twentieth of the TTL, the next lease may begin before the last one has ended.
//
// A new fence is greater than the last fence if Redis or the client remembers the last fence.
// Redis remembers it while the lock is held, for one TTL after the release, and while somebody
// waits. Each client remembers the highest fence that it has seen. Otherwise Redis takes the
// fence from its clock: if that clock was set back, the fence may be lower than the last one.
//
// # Keys
//
// A lock has these keys. Each has a TTL, and the name as its hash tag, so that all keys of a
// lock are on one node of a Redis Cluster:
//
//	oid:lock:{name}        while held: the owner and the fence; for one TTL after that: the fence
//	oid:lock:{name}:queue  while somebody waits: the queue
//	oid:lock:{name}:heard  while somebody waits: the fence, and the latest waiters of two processes
//	oid:lock:{name}:note   for at least 35 days after the latest run: the runs of [lock.Once]
//	oid:lock:{name}:broken for a day after [lock.Locker.Break]: the broken lease, and who broke it
//
// If an access control list restricts the Redis user, this user needs the commands evalsha, eval,
// info, scan, publish, subscribe and unsubscribe, all commands in the scripts, the keys oid:lock:*
// and the channels oid:lock:*, for which Redis 7 gives a new user no rights. With
// [Options.Prefix], all keys and channels begin with the prefix.
//
// # Servers that lack something
//
// Serverless Redis refuses to publish within a script. The process whose request the script
// served then publishes the hints. If it dies before that, waiters wait for their next request
// without a hint.
//
// If Redis refuses hints altogether, [Options.Warn] is called, and each waiter asks every 50 to
// 100 ms. Waiters still get the lock in their order.
//
// A proxy without scripts, or one that hangs up on HELLO, as twemproxy does, cannot be used.
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
	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/objectid"
)

// Options tune a [Locker].
type Options struct {
	// TTL is how long a lock stays held after its last renewal, unless
	// [lock.AcquireOptions] say otherwise. It is rounded down to milliseconds.
	// Default: [lock.DefaultTTL].
	TTL time.Duration

	// Process is the gpid of this process, which everyone sees as the owner of its locks.
	// Default: gpid.Self("").
	Process gpid.GPID

	// Prefix begins all keys and channels, so that several tenants can share a Redis. Each
	// tenant sees only its own locks. If the prefix ends with a letter or a digit, a colon
	// follows it: with the prefix shop, the keys begin with shop:oid:lock: and the Redis user
	// needs only ~shop:* and &shop:*. A prefix is up to 128 printable ASCII characters
	// without blanks and {}*?[]\. Default: none.
	Prefix string

	// Events is called with every event of the Locker's locks, see [lock.Event]. It may be
	// nil.
	Events func(lock.Event)

	// Warn is called while the Locker is created, once for each node of Redis that is a
	// read-only replica, or whose settings let it drop keys when its memory is full. Nodes that
	// do not answer within 100 ms are not checked. Warn is also called once, then or later, if
	// Redis refuses the messages that wake waiters. Default: a warning in the log of
	// [slog.Default].
	Warn func(error)
}

// maxTry is the longest time that one request may take, whatever the TTL is.
const maxTry = time.Second

// Locker is a [lock.Locker] in Redis. One per process is enough. Make it with [Open] or
// [New]. List scans all keys in Redis, in steps that do not block other clients; with
// millions of keys that takes seconds.
type Locker struct {
	lock.Locker // all methods except Close

	driver  Driver
	warn    func(error)
	owners  string // the beginning of the texts of all owners
	channel string // of the hints for waiters of this Locker

	keyBegin string // the beginning of the keys of all locks

	nonce atomic.Uint64
	seen  atomic.Uint64 // the highest fence of any lock
	calls *calls.Calls
	queue queue

	// reset closes the connections that were opened before a time. It is called when a
	// request gets no reply, the reply to another request, or a reply from the wrong node. The
	// client then looks up the name of Redis again. It is nil unless Open made the client.
	reset func(before time.Time)
	// closeClient closes the client. It is nil unless Open made the client.
	closeClient func()
}

// New returns a Locker that uses client. Close the Locker before the client. New asks the
// nodes of Redis for the settings that Options.Warn is about, and waits for their answers until
// 100 ms have passed or ctx ends. If Redis does not answer, New succeeds all the same.
//
// If o.TTL or o.Prefix is invalid, the error wraps [lock.ErrInvalid]. Any other error says why this
// process cannot be identified.
//
// Set the client's ConnWriteTimeout to about a second, as [Open] does, so that the client
// gives up a connection on which a network drops all packets. If one name leads to whichever
// node is the primary, also set ConnLifetime to a few seconds: only [Open] can close
// connections to a node that has become a replica. Only Open protects this process from a panic
// in rueidis that a Redis with too many clients can cause, when it refuses a connection before
// rueidis has sent a request.
func New(ctx context.Context, client Client, o *Options) (*Locker, error) {
	return NewWithDriver(ctx, &rueidisDriver{client: client}, o)
}

// NewWithDriver is [New] for clients other than rueidis.
func NewWithDriver(ctx context.Context, d Driver, o *Options) (*Locker, error) {
	opts := *cmp.Or(o, &Options{})
	if opts.Warn == nil {
		opts.Warn = func(err error) { slog.Warn(err.Error()) }
	}
	prefix, err := separated(opts.Prefix)
	if err != nil {
		return nil, fmt.Errorf("redislock: %w", err)
	}
	c, err := calls.New(calls.Settings{Engine: "redislock", TTL: opts.TTL, Process: opts.Process, Events: opts.Events})
	if err != nil {
		return nil, err
	}
	l := &Locker{
		driver:  d,
		warn:    opts.Warn,
		owners:  c.Process().String() + "/",
		channel: prefix + "oid:lock:wake:" + objectid.New().String(),

		keyBegin: prefix + keyBegin,
		calls:    c,
		queue:    queue{waiting: make(map[string]*request), watches: make(map[string]*watch), local: make(map[string]*local), localWait: localWait, changed: make(chan struct{})},
	}
	l.Locker = calls.NewLocker(c, calls.Backend{Acquire: l.acquire, Status: l.status, List: l.list, Break: l.breakLease, Note: l.note})
	l.nonce.Store(rand.Uint64())
	l.inspect(ctx)
	return l, nil
}

// Close ends waiting calls with [lock.ErrClosed], waits for requests that are under way, and
// closes the client if [Open] made it. See [lock.Locker] for what becomes of leases.
func (l *Locker) Close() error {
	if l.calls.Close() && l.closeClient != nil {
		l.reset(time.Now()) // otherwise the client sends a PING
		l.closeClient()
	}
	return nil
}

// eval runs a script and returns its reply without the nonce. args[0] is for the nonce. Each
// request takes at most try, and the first one counts from now.
func (l *Locker) eval(ctx context.Context, now time.Time, try time.Duration, s script, keys, args []string) (string, error) {
	// The protocol does not number requests and replies. Once a reply is lost, every later
	// reply is taken for that of another request. The nonce shows it.
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
	} else if failure.Of(err).Kind == failure.WrongNode {
		now = now.Add(-nodePause)
	} else if over(ctx) == nil && (errors.Is(err, context.DeadlineExceeded) || code(err) == "" && time.Since(now) >= try) {
		err = calls.NoAnswer(try) // to this request, or while the connection was opened
	} else {
		return "", err
	}
	if l.reset != nil {
		l.reset(now)
	}
	return "", err
}

// over returns why ctx has ended, or nil. Unlike ctx, it knows that at the deadline: a request that
// was given up then may return before ctx has noticed.
func over(ctx context.Context) error {
	if at, limited := ctx.Deadline(); limited && ctx.Err() == nil && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// nodePause is how long a connection to the wrong node is kept at least. So a client does not
// open connections all the time while the name of Redis leads to that node.
const nodePause = 500 * time.Millisecond

// see remembers fence if it is the highest so far.
func (l *Locker) see(fence uint64) {
	for {
		seen := l.seen.Load()
		if fence <= seen || l.seen.CompareAndSwap(seen, fence) {
			return
		}
	}
}

// guess returns the highest fence seen plus one, or 0 if none was seen.
func (l *Locker) guess() uint64 {
	if seen := l.seen.Load(); seen > 0 {
		return seen + 1
	}
	return 0
}

// inspectTime is how long a new Locker waits for the settings of its nodes.
const inspectTime = 100 * time.Millisecond

// inspect warns of settings that make locks unsafe. It refuses nothing: a lock needs only one
// node, whose own error says what is wrong.
func (l *Locker) inspect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	if d, ok := l.driver.(*rueidisDriver); !ok || !d.trusted {
		l.tryHints(ctx)
	}
	for addr, text := range l.driver.Info(ctx) {
		info := parseInfo(text)
		switch replica, clustered := info["role"] == "slave", info["cluster_enabled"] == "1"; {
		case replica && !clustered:
			l.warn(fmt.Errorf("redislock: %s is a read-only replica: use the URL of its primary, %s:%s, or of a Sentinel", addr, info["master_host"], info["master_port"]))
		case !replica && info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction" && info["maxmemory_policy"] != "":
			l.warn(fmt.Errorf("redislock: %s drops locks when its memory is full, because its maxmemory-policy is %s: set it to noeviction", addr, info["maxmemory_policy"]))
		}
	}
}

// parseInfo returns the fields in the reply to INFO.
func parseInfo(text string) map[string]string {
	fields := make(map[string]string)
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok {
			fields[key] = value
		}
	}
	return fields
}

// limited is the context of one request. If Open made the client, Done is not closed at the
// deadline, because a channel and a timer for each request would cost nearly as much as the
// request. Instead drop closes the connection on which the request waits.
type limited struct {
	context.Context
	l     *Locker
	end   time.Time
	stop  context.CancelFunc // nil if Open made the client
	timer *time.Timer        // calls drop, if Open made the client

	mu     sync.Mutex
	opened time.Time // drop closes connections that were opened before
	done   bool
}

// limit returns the context of a request that takes at most d from now. The caller must call
// cancel.
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
	c.timer = time.AfterFunc(d+d/15, c.drop) // later than d, so that the client can end the request itself
	return c
}

// Deadline returns the deadline of the request or of its parent, whichever is earlier.
func (c *limited) Deadline() (time.Time, bool) { return c.end, true }

// Err returns why the client may not send the request again, or nil.
func (c *limited) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(c.end) {
		return context.DeadlineExceeded
	}
	return nil
}

// drop closes the connections that were opened before the request began, unless the request
// has ended. A later call closes those that were opened before the last call. So a new
// connection has maxTry.
func (c *limited) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.l.reset(c.opened)
		c.opened = time.Now()
		c.timer.Reset(maxTry)
	}
}

// cancel ends the context. It leaves the connections open.
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
