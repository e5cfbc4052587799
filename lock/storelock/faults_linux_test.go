package storelock_test

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/internal/lockfaults"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

const faultTTL = 600 * time.Millisecond

func TestMain(m *testing.M) {
	for variable, do := range map[string]func(uri string) error{"OID_STORELOCK_WORKER": work, "OID_STORELOCK_HOLDER": hold} {
		if uri := os.Getenv(variable); uri != "" {
			fmt.Fprintln(os.Stderr, do(uri))
			os.Exit(1)
		}
	}
	lockfaults.Main(lockfaults.OwnOnPostgres())
	os.Exit(testenv.Main(m))
}

// uptime returns a time that all processes of this machine share and nobody sets.
func uptime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

func openStore(ctx context.Context, uri string) (store.Store, error) {
	switch {
	case strings.HasPrefix(uri, "postgres:"):
		return pgstore.Open(ctx, uri)
	case strings.HasPrefix(uri, "mongodb:"):
		return mongostore.Open(ctx, uri)
	}
	return sqlitestore.Open(ctx, uri, nil)
}

// work takes the lock for ever, works for a while under it, and says every
// millisecond with which fence it is inside its deadline.
func work(uri string) error {
	ctx := context.Background()
	s, err := openStore(ctx, uri)
	if err != nil {
		return err
	}
	l, err := storelock.New(s, &storelock.Options{TTL: faultTTL})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for {
		lease, err := l.Acquire(ctx, "job", nil)
		if err != nil {
			continue
		}
		// One that was stopped says after it whether it is still inside.
		for end, last := time.Now().Add(rand.N(faultTTL)), false; !last; time.Sleep(time.Millisecond) {
			last = time.Now().After(end)
			now := uptime()
			if lease.Check() != nil {
				break
			}
			fmt.Fprintln(out, "inside", lease.Fence(), int64(now))
			if err := out.Flush(); err != nil {
				return err
			}
		}
		_ = lease.Release()
	}
}

// stay is the time that a lease was seen to be inside its deadline.
type stay struct {
	fence       uint64
	first, last time.Duration
}

// worker is a process that works under the lock, started again after each death.
type worker struct {
	t   *testing.T
	uri string
	cmd *exec.Cmd
	all *sync.WaitGroup

	mu    sync.Mutex
	stays []stay
}

func (w *worker) start() {
	w.cmd = exec.CommandContext(w.t.Context(), os.Args[0])
	w.cmd.Env = append(os.Environ(), "OID_STORELOCK_WORKER="+w.uri)
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.all.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var fence uint64
			var now int64
			if _, err := fmt.Sscan(strings.TrimPrefix(lines.Text(), "inside "), &fence, &now); err != nil {
				continue // the last line of one that was killed
			}
			w.mu.Lock()
			if n := len(w.stays); n == 0 || w.stays[n-1].fence != fence {
				w.stays = append(w.stays, stay{fence, time.Duration(now), time.Duration(now)})
			}
			w.stays[len(w.stays)-1].last = time.Duration(now)
			w.mu.Unlock()
		}
	})
}

// lastGranted returns when the last lease of w was first seen.
func (w *worker) lastGranted() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.stays) == 0 {
		return 0
	}
	return w.stays[len(w.stays)-1].first
}

// hadTurns returns an error if w has hardly had the lock.
func (w *worker) hadTurns() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.stays) < 5 {
		return fmt.Errorf("%d leases", len(w.stays))
	}
	return nil
}

// stop stops w for a time.
func (w *worker) stop(pause time.Duration) {
	_ = w.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(pause)
	_ = w.cmd.Process.Signal(syscall.SIGCONT)
}

// nextHolder waits until one of the workers has a new lease and returns its index.
func nextHolder(t *testing.T, workers [2]*worker) (i int) {
	t.Helper()
	began := uptime()
	testenv.Await(t, "a new lease", func() error {
		for i = range workers {
			if workers[i].lastGranted() > began {
				return nil
			}
		}
		return errors.New("there is none")
	})
	return i
}

func (w *worker) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

// place is a store with what can be done to its way to a worker. A nil cut is a store
// that nobody can be cut off from.
type place struct {
	uris [2]string
	cut  func(worker int, requests, answers bool) (undo func())
	slow func(worker int) (undo func())
}

// places are the stores.
var places = map[string]func(t *testing.T) place{
	"SQLite": func(t *testing.T) place {
		path := filepath.Join(t.TempDir(), "s.db")
		busy := func(int) func() {
			db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(10000)")
			if err != nil {
				t.Fatal(err)
			}
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = tx.Rollback(); db.Close() }
		}
		return place{uris: [2]string{path, path}, slow: busy}
	},
	"PostgreSQL": func(t *testing.T) place {
		server := testenv.Postgres(t)
		return wired(t, testenv.PostgresSchema(t, server.URL()), server.Addr)
	},
	"MongoDB": func(t *testing.T) place {
		uri, err := url.Parse(testenv.MongoDB(t))
		if err != nil {
			t.Fatal(err)
		}
		query := uri.Query()
		query.Set("directConnection", "true") // not around the cable to where the server says it is
		uri.RawQuery = query.Encode()
		return wired(t, uri.String(), uri.Host)
	},
}

// wired puts a cable between each worker and its server.
func wired(t *testing.T, uri, addr string) place {
	cables := [2]*testenv.Cable{testenv.NewCable(t, addr), testenv.NewCable(t, addr)}
	var p place
	for i, c := range cables {
		p.uris[i] = strings.Replace(uri, addr, c.Addr, 1)
	}
	p.cut = func(i int, requests, answers bool) func() {
		cables[i].Cut(requests, answers)
		return func() { cables[i].Cut(false, false) }
	}
	p.slow = func(i int) func() { cables[i].Slow(faultTTL / 8); return func() { cables[i].Slow(0) } }
	return p
}

// TestTwoProcesses lets two processes that never speak take a lock through
// rounds in which one is stopped, killed, cut off in one direction or both, or kept
// waiting. They are never both inside their deadlines, the fences rise, and both get
// their turns.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	for name, open := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			var running sync.WaitGroup
			workers := [2]*worker{{t: t, uri: p.uris[0], all: &running}, {t: t, uri: p.uris[1], all: &running}}
			for _, w := range workers {
				w.start()
			}
			for round := range testenv.Size(12, 20) {
				time.Sleep(rand.N(faultTTL / 2))
				i := nextHolder(t, workers)
				w := workers[i]
				pause := func() { time.Sleep(faultTTL/2 + rand.N(faultTTL)) }
				switch {
				case round%4 == 0: // it goes on just before its deadline
					w.stop(faultTTL * 4 / 5)
				case round%4 == 2 && p.cut == nil: // or whenever
					w.stop(faultTTL/2 + rand.N(faultTTL))
				case round%4 == 1:
					w.kill()
					w.start()
				case round%4 == 2:
					ways := [][2]bool{{true, true}, {true, false}, {false, true}}[round/4%3]
					undo := p.cut(i, ways[0], ways[1])
					pause()
					undo()
				default:
					undo := p.slow(i)
					pause()
					undo()
				}
			}
			for i, w := range workers {
				testenv.Await(t, fmt.Sprintf("turns of worker %d", i), w.hadTurns)
				w.kill()
			}
			running.Wait()
			judge(t, workers[0].stays, workers[1].stays)
		})
	}
}

// judge checks that no two stays overlap and that fences rise.
func judge(t *testing.T, a, b []stay) {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b stay) int { return cmp.Compare(a.first, b.first) })
	for i := 1; i < len(all); i++ {
		before, after := all[i-1], all[i]
		if after.first <= before.last {
			t.Errorf("fence %d was inside until %v and fence %d from %v", before.fence, before.last, after.fence, after.first)
		}
		if after.fence <= before.fence {
			t.Errorf("fence %d after %d", after.fence, before.fence)
		}
	}
	t.Logf("%d and %d leases", len(a), len(b))
}
