package redislock

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// strict is a driver of a Redis that refuses PUBLISH within scripts, as serverless ones do. Redis
// itself refuses: the scripts call a command that it does not know.
type strict struct{ Driver }

func (d strict) EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error) {
	for _, s := range []script{acquireScript(), releaseScript()} {
		if s.sha1 == sha1 {
			return d.Driver.Eval(ctx, strings.ReplaceAll(s.text, "'PUBLISH'", "'NOSUCH'"), keys, args)
		}
	}
	return d.Driver.EvalSHA(ctx, sha1, keys, args)
}

// warnings keeps what Options.Warn was told.
type warnings struct {
	mu   sync.Mutex
	told []string
}

func (w *warnings) add(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, err.Error())
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told)
}

// openHints opens a Locker and returns what it warns of.
func openHints(t *testing.T, url string) (*Locker, *warnings) {
	t.Helper()
	w := new(warnings)
	l, err := Open(t.Context(), url, &Options{Warn: w.add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, w
}

// handOver lets a waiter of another process wait for a lock, and returns how long after the
// release it has the lock.
func handOver(t *testing.T, holder, waiter *Locker, name string) time.Duration {
	t.Helper()
	lease, err := holder.TryAcquire(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan time.Time)
	go func() {
		defer close(got)
		lease, err := waiter.Acquire(t.Context(), name, nil)
		if err != nil {
			t.Error(err)
			return
		}
		got <- time.Now()
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}()
	testenv.Await(t, "a waiter in the queue", func() error {
		s, err := holder.Status(t.Context(), name)
		if err == nil && s.Waiters == 0 {
			err = &lock.HeldError{Status: s}
		}
		return err
	})
	released := time.Now()
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	took := (<-got).Sub(released)
	<-got
	return took
}

// If Redis refuses hints within a script, the process whose request the script served publishes
// them. Nobody is warned.
func TestHintsAfterTheScript(t *testing.T) {
	server := testenv.Redis(t)
	holder, w1 := openHints(t, server.URL())
	waiter, w2 := openHints(t, server.URL())
	holder.driver, waiter.driver = strict{holder.driver}, strict{waiter.driver}
	// Without a hint, a waiter asks after a second.
	undisturbed(t, 0, 500*time.Millisecond, "a hand-over", func(t *testing.T) time.Duration {
		return handOver(t, holder, waiter, "job")
	})
	if told := append(w1.all(), w2.all()...); len(told) > 0 {
		t.Errorf("warnings: %q", told)
	}
}

// sharded is a driver whose subscriptions belong to the slot of their channel. Serverless Redis has
// only such ones, but answers as if they were others.
type sharded struct{ *rueidisDriver }

func (d sharded) Subscribe(ctx context.Context, channel string, ready func(), message func(string)) error {
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(rueidis.PubSubSubscription) { ready() })
	c, release := d.client.Dedicate()
	defer release()
	defer c.Close()
	return c.Receive(hooked, c.B().Ssubscribe().Channel(channel).Build(), func(m rueidis.PubSubMessage) { message(m.Message) })
}

// Serverless Redis takes a channel for a key, and refuses a script that publishes on a channel
// whose slot is on another node. In this cluster it is so too: its PUBLISH is SPUBLISH.
func TestHintsOfServerlessRedis(t *testing.T) {
	nodes := testenv.RedisCluster(t, 0, "--rename-command", "PUBLISH", "", "--rename-command", "SPUBLISH", "PUBLISH")
	holder, w1 := openHints(t, testenv.ClusterURL(nodes))
	waiter, w2 := openHints(t, testenv.ClusterURL(nodes))
	waiter.driver = sharded{waiter.driver.(*rueidisDriver)}
	for i := range 6 { // on all nodes
		undisturbed(t, 0, 500*time.Millisecond, "a hand-over", func(t *testing.T) time.Duration {
			return handOver(t, holder, waiter, fmt.Sprint("job-", i))
		})
	}
	if told := append(w1.all(), w2.all()...); len(told) > 0 {
		t.Errorf("warnings: %q", told)
	}
}

// The hints of a roll call too go out after the script.
func TestRollCallAfterTheScript(t *testing.T) {
	server := testenv.Redis(t)
	holder, _ := openHints(t, server.URL())
	dead, _ := openHints(t, server.URL())
	taker, _ := openHints(t, server.URL())
	waiter, _ := openHints(t, server.URL())
	for _, l := range []*Locker{holder, dead, taker, waiter} {
		l.driver = strict{l.driver}
	}
	lease, err := holder.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	waiters(t, dead, 1) // it has no subscription, and asks no more
	if err := waiter.listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := queued(t, waiter)
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	select { // told to ask later
	case <-r.wake:
	case <-time.After(10 * time.Second):
		t.Fatal("no hint to ask when the reservation is over")
	}
	testenv.Await(t, "the end of the reservation", func() error {
		_, err := taker.TryAcquire(t.Context(), "job", nil)
		return err
	})
	select {
	case <-r.wake:
	case <-time.After(10 * time.Second):
		t.Error("the roll call did not reach the waiter")
	}
}

// The waiter that was told to ask later gives up: the next one is told, after the script.
func TestGivingUpAfterTheScript(t *testing.T) {
	server := testenv.Redis(t)
	holder, _ := openHints(t, server.URL())
	dead, _ := openHints(t, server.URL())
	waiter, _ := openHints(t, server.URL())
	leaver, _ := openHints(t, server.URL())
	for _, l := range []*Locker{holder, leaver} {
		l.driver = strict{l.driver}
	}
	lease, err := holder.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	waiters(t, dead, 1)
	if err := waiter.listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := queued(t, waiter)
	last := queued(t, leaver)
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := last.release(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.wake:
	case <-time.After(10 * time.Second):
		t.Error("the next waiter got no hint")
	}
}

// A Redis user without rights on channels is told so at the start, once, with the command that
// grants them. Locks work: waiters ask often.
func TestNoRightsOnChannels(t *testing.T) {
	for _, rules := range []string{
		"+@all",
		"allchannels +@all -publish",
		"allchannels +@all -subscribe",
		"&other:* +@all",
	} {
		t.Run(rules, func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t)
			server.CLI(append([]string{"ACL", "SETUSER", "job", "on", ">secret", "resetchannels", "~oid:lock:*"}, strings.Fields(rules)...)...)
			url := strings.Replace(server.URL(), "redis://", "redis://job:secret@", 1)
			holder, w1 := openHints(t, url)
			waiter, w2 := openHints(t, url)
			if at := len(w1.all()); at != 1 && rules != "allchannels +@all -subscribe" { // that is found when somebody waits
				t.Errorf("%d warnings at the start, want one", at)
			}
			undisturbed(t, 0, 500*time.Millisecond, "a hand-over", func(t *testing.T) time.Duration {
				return handOver(t, holder, waiter, "job")
			})
			if told := w2.all(); len(told) != 1 || !strings.Contains(told[0], "ACL SETUSER USER +publish +subscribe +unsubscribe &oid:lock:wake:*") {
				t.Errorf("warnings: %q", told)
			}
		})
	}
}

// A Redis without PUBLISH is told once, and waiters ask often.
func TestRedisWithoutPublish(t *testing.T) {
	server := testenv.Redis(t, "--rename-command", "PUBLISH", "")
	holder, w1 := openHints(t, server.URL())
	waiter, w2 := openHints(t, server.URL())
	undisturbed(t, 0, 500*time.Millisecond, "a hand-over", func(t *testing.T) time.Duration {
		return handOver(t, holder, waiter, "job")
	})
	for _, told := range [][]string{w1.all(), w2.all()} {
		if len(told) != 1 || !strings.Contains(told[0], "unknown command") || !strings.Contains(told[0], "every 50ms to 100ms") {
			t.Errorf("warnings: %q", told)
		}
	}
}
