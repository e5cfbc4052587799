package lock

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/internal/lockfaults"
	"github.com/oidkit/oid/internal/testenv"
)

var (
	rounds = flag.Int("rounds", 7, "how often each library has its turn")
	only   = flag.String("only", "", "measure only contests with this `text` in their title")
)

const (
	turn  = 500 * time.Millisecond
	ttl   = 10 * time.Second
	stuck = 3 * time.Second // after a turn a worker that still waits has been forgotten
)

// contest is one way of using locks.
type contest struct {
	title   string
	clients int // each with connections of its own
	workers int // of each client
	oneName bool
	wander  bool // each lock has a random one of as many names as there are workers
	work    time.Duration
	pinned  bool // with Redis to one CPU
}

var contests = []contest{
	{
		title: "1 worker", clients: 1, workers: 1, oneName: true,
	},
	{
		title: "1, pinned", clients: 1, workers: 1, oneName: true, pinned: true,
	},
	{
		title: "32 on 32 keys", clients: 1, workers: 32,
	},
	{
		title: "16 over 16 keys", clients: 1, workers: 16, wander: true,
	},
	{
		title: "200 on 1 key", clients: 1, workers: 200, oneName: true,
	},
	{
		title: "32 clients on 1", clients: 32, workers: 1, oneName: true, work: 2 * time.Millisecond,
	},
}

// result is what one library did in one turn.
type result struct {
	perSecond float64
	longest   time.Duration // wait for the lock
	commands  float64       // that Redis was sent, for each time that the lock was taken
	own       time.Duration // processor time of this program for each lock
	server    time.Duration // processor time of Redis for each lock
	share     float64       // of the worker that got it least, of what would be fair
}

// TestSpeed measures all libraries in rounds, so that a slower or faster moment of
// the machine meets all of them, and writes medians.
func TestSpeed(t *testing.T) {
	server := testenv.Redis(t)
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d rounds with turns of %v each, on one redis-server. Workers on keys; over keys: on a random one each time. ratio: above 1 the library is faster than oid. pinned: all on one CPU, with Redis. 32 clients: with 2 ms of work under the lock. program, Redis: processor time for each lock. least: the locks of the worker with the fewest, as a share of the mean. Libraries that poll do so every %v. Left out: a network to Redis; AutoPipeline of go-redis, which ignores contexts: bsm/redislock over it had 1.01, 32 on 32 keys.\n", *rounds, turn, pause)
	measures := []struct {
		title string
		cell  func(rs, oid []result) string
	}{
		{"locks/s and ratio", func(rs, oid []result) string {
			var ratios []float64
			for i := range rs {
				ratios = append(ratios, rs[i].perSecond/oid[i].perSecond)
			}
			return fmt.Sprintf("%.0f, %.2f", median(rs, func(r result) float64 { return r.perSecond }), median(ratios, func(x float64) float64 { return x }))
		}},
		{"ms: longest wait", func(rs, _ []result) string {
			return fmt.Sprintf("%.0f", median(rs, func(r result) float64 { return float64(r.longest) / 1e6 }))
		}},
		{"µs: program, Redis", func(rs, _ []result) string {
			return fmt.Sprintf("%.0f, %.0f", median(rs, func(r result) float64 { return float64(r.own) / 1e3 }), median(rs, func(r result) float64 { return float64(r.server) / 1e3 }))
		}},
		{"least, %", func(rs, _ []result) string {
			return fmt.Sprintf("%.0f", 100*median(rs, func(r result) float64 { return r.share }))
		}},
	}
	var head, line string
	rows := make([][]string, len(measures)) // by measure and subject
	for m := range rows {
		for _, s := range subjects {
			rows[m] = append(rows[m], "| "+s.Name+" |")
		}
	}
	for _, c := range contests {
		if !strings.Contains(c.title, *only) {
			continue
		}
		results := make([][]result, len(subjects))
		for range *rounds {
			for i, s := range subjects {
				results[i] = append(results[i], c.run(t, server, bare(s)))
			}
		}
		head, line = head+" "+c.title+" |", line+"---:|"
		for m := range measures {
			for i := range subjects {
				rows[m][i] += " " + measures[m].cell(results[i], results[0]) + " |"
			}
		}
	}
	for m := range measures {
		fmt.Fprintf(&b, "\n| %s |%s\n|---|%s\n%s\n", measures[m].title, head, line, strings.Join(rows[m], "\n"))
	}
	if *only != "" {
		t.Log(b.String())
		return
	}
	fmt.Fprintf(&b, "\n| commands of Redis for each lock, by waiters, medians of 3 | 1 | 4 | 16 | 64 |\n|---|---:|---:|---:|---:|\n")
	for _, s := range subjects {
		fmt.Fprintf(&b, "| %s |", s.Name)
		for _, clients := range []int{2, 5, 17, 65} {
			var rs []result
			for range 3 {
				rs = append(rs, contest{clients: clients, workers: 1, oneName: true, work: 2 * time.Millisecond}.run(t, server, bare(s)))
			}
			fmt.Fprintf(&b, " %.1f |", median(rs, func(r result) float64 { return r.commands }))
		}
		b.WriteString("\n")
	}
	if *output == "" {
		t.Log(b.String())
		return
	}
	if err := page.Write(*output, "Locks", "make bench-lock", b.String()); err != nil {
		t.Fatal(err)
	}
}

func median[T any](of []T, value func(T) float64) float64 {
	var all []float64
	for _, x := range of {
		all = append(all, value(x))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// run lets a library take locks for one turn.
func (c contest) run(t *testing.T, server *testenv.RedisServer, s lockfaults.Subject) result {
	t.Helper()
	server.CLI("FLUSHALL")
	if c.pinned {
		defer pin(t, server.PID())()
	}
	var clients []lockfaults.Client
	for range c.clients {
		client, err := s.Open(t.Context(), server.URL(), ttl)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		clients = append(clients, client)
	}
	var mu sync.Mutex
	var longest time.Duration
	var taken []int
	loop := func(client lockfaults.Client, name string, end time.Time) {
		n, worst := 0, time.Duration(0)
		ctx, cancel := context.WithDeadline(context.Background(), end.Add(stuck))
		defer cancel()
		for time.Now().Before(end) {
			if c.wander {
				name = "lock" + strconv.Itoa(rand.IntN(c.workers))
			}
			began := time.Now()
			lease, err := client.Acquire(ctx, name)
			if err != nil {
				t.Logf("%s, %s: a worker got the lock no more: %v", s.Name, c.title, err)
				break
			}
			worst = max(worst, time.Since(began))
			if c.work > 0 {
				time.Sleep(c.work)
			}
			if err := lease.Release(); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
			n++
		}
		mu.Lock()
		defer mu.Unlock()
		taken = append(taken, n)
		longest = max(longest, worst)
	}
	all := func(d time.Duration) {
		end := time.Now().Add(d)
		var wg sync.WaitGroup
		for i, client := range clients {
			for j := range c.workers {
				name := "lock"
				if !c.oneName {
					name += strconv.Itoa(i*c.workers + j)
				}
				wg.Go(func() { loop(client, name, end) })
			}
		}
		wg.Wait()
	}
	all(turn / 10) // connections are made, scripts are known
	longest, taken = 0, nil
	server.CLI("CONFIG", "RESETSTAT")
	pid := server.PID()
	own, redis := processorTime(t, os.Getpid()), processorTime(t, pid)
	began := time.Now()
	all(turn)
	took := time.Since(began)
	own, redis = processorTime(t, os.Getpid())-own, processorTime(t, pid)-redis
	commands := calls(server)
	sum := 0
	for _, n := range taken {
		sum += n
	}
	return result{
		perSecond: float64(sum) / took.Seconds(),
		longest:   longest,
		own:       own / time.Duration(max(1, sum)),
		server:    redis / time.Duration(max(1, sum)),
		commands:  float64(commands) / float64(max(1, sum)),
		share:     float64(slices.Min(taken)) * float64(len(taken)) / float64(max(1, sum)),
	}
}

// processorTime returns what a process has used so far, all its threads together.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	clock := int32(^pid)<<3 | 2 // the kernel's number of a process's clock
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}

// calls returns the number of commands that Redis has carried out.
func calls(server *testenv.RedisServer) (n int) {
	for line := range strings.Lines(server.CLI("INFO", "commandstats")) {
		_, rest, _ := strings.Cut(line, ":calls=")
		count, _, _ := strings.Cut(rest, ",")
		i, _ := strconv.Atoi(count)
		n += i
	}
	return n
}

// bare returns a subject without renewals where the library leaves these to its
// users, since they are no part of taking and giving back a lock.
func bare(s lockfaults.Subject) lockfaults.Subject {
	switch s.Name {
	case "bsm/redislock":
		s.Open = func(ctx context.Context, url string, ttl time.Duration) (lockfaults.Client, error) {
			c, err := openRedislock(ctx, url, ttl)
			if err != nil {
				return nil, err
			}
			return bareRedislock{c.(redislockClient)}, nil
		}
	case "redsync":
		s.Open = func(ctx context.Context, url string, ttl time.Duration) (lockfaults.Client, error) {
			c, err := openRedsync(ctx, url, ttl)
			if err != nil {
				return nil, err
			}
			return bareRedsync{c.(redsyncClient)}, nil
		}
	}
	return s
}

type bareRedislock struct{ redislockClient }

func (c bareRedislock) Acquire(ctx context.Context, name string) (lockfaults.Lease, error) {
	l, err := c.lock.Obtain(ctx, name, c.ttl, &redislock.Options{RetryStrategy: redislock.LinearBackoff(pause)})
	if err != nil {
		return nil, err
	}
	return released(func() error { return l.Release(context.Background()) }), nil
}

type bareRedsync struct{ redsyncClient }

func (c bareRedsync) Acquire(ctx context.Context, name string) (lockfaults.Lease, error) {
	m := c.lock.NewMutex(name, redsync.WithExpiry(c.ttl), redsync.WithTries(1<<30), redsync.WithRetryDelay(pause))
	if err := m.LockContext(ctx); err != nil {
		return nil, err
	}
	return released(func() error {
		_, err := m.UnlockContext(context.Background())
		return err
	}), nil
}

// released is a lease that can be given back and nothing else.
type released func() error

func (released) Check() error     { return nil }
func (released) Fence() uint64    { return 0 }
func (r released) Release() error { return r() }
