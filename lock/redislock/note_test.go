package redislock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// A lease whose lock is gone, or another's, does not write the note any more. The note
// lives for weeks.
func TestNoteOfALostLock(t *testing.T) {
	server := testenv.Redis(t)
	l, other := open(t, server.URL(), time.Minute), open(t, server.URL(), time.Minute)
	for key, taken := range map[string]bool{"gone": false, "taken": true} {
		r, err := lock.Once(t.Context(), l, "job", lock.KeySchedule(key), func(context.Context, *lock.Lease, lock.Run) error {
			server.CLI("DEL", "oid:lock:{job}")
			if taken {
				lease, err := other.Acquire(t.Context(), "job", nil)
				if err != nil {
					return err
				}
				t.Cleanup(func() { _ = lease.Release() })
			}
			return nil
		}, nil)
		if !errors.Is(err, lock.ErrUnrecorded) || !errors.Is(err, lock.ErrLost) || !r.Here {
			t.Errorf("%s: %+v, %v; want ErrUnrecorded and ErrLost", key, r, err)
		}
		all, err := lock.Runs(t.Context(), other, "job")
		if err != nil || len(all) == 0 || all[len(all)-1].Tick.Key != key || all[len(all)-1].Outcome != lock.OutcomeDied {
			t.Errorf("%s: Runs: %+v, %v; want it to have died", key, all, err)
		}
		server.CLI("DEL", "oid:lock:{job}")
	}
	if life := server.CLI("PTTL", "oid:lock:{job}:note"); len(life) < len("34560000000")-1 { // 400 days
		t.Errorf("the note lives for %s ms", life)
	}
}

// A note is asked for again while Redis is away, as long as ctx allows.
func TestNoteWhileRedisIsAway(t *testing.T) {
	server := testenv.Redis(t)
	l := open(t, server.URL(), time.Minute)
	server.Kill()
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	ended := make(chan error, 1)
	ask := func(ctx context.Context) {
		_, err := lock.HeldSlots(ctx, l, "job") // which reads a note
		ended <- err
	}
	go ask(ctx)
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a Redis that is away has answered")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the read waits on after the end of its ctx")
	}
	go ask(t.Context())
	time.Sleep(100 * time.Millisecond)
	server.Start()
	if err := <-ended; err != nil {
		t.Errorf("a note of a Redis that came back: %v", err)
	}
}
