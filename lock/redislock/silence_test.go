package redislock

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
	"github.com/oidkit/oid/lock/internal/locktest"
	"github.com/oidkit/oid/objectid"
)

// falling is a driver of a Redis that falls silent after some requests, to which it answers
// that another has the lock.
type falling struct {
	Driver
	after int
	held  string // the value of the lock
}

func (d *falling) EvalSHA(ctx context.Context, _ string, _, args []string) (string, error) {
	if d.after--; d.after >= 0 {
		return args[0] + " refused 60000 1 " + d.held, nil
	}
	<-ctx.Done()
	return "", ctx.Err()
}

func (d *falling) Subscribe(ctx context.Context, _ string, _ func(), _ func(string)) error {
	<-ctx.Done()
	return ctx.Err()
}

func (d *falling) Publish(ctx context.Context, _, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func (d *falling) Info(context.Context) map[string]string { return nil }

// A call that waits tells once that Redis does not answer, before its first answer, while
// it subscribes and later.
func TestSilence(t *testing.T) {
	for after := range 3 {
		synctest.Test(t, func(t *testing.T) {
			d := &falling{after: after}
			var told []error
			events, through := locktest.Observe(t)
			l, err := NewWithDriver(t.Context(), d, &Options{Events: func(e lock.Event) {
				events(e)
				if e.Kind == lock.EventUnanswered {
					told = append(told, e.Err)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			other := &request{text: lock.Owner{Process: l.calls.Process(), ID: objectid.New()}.String()}
			d.held = other.value(grant{1, time.Now()}, holder.Self(lock.AcquireOptions{}))
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			began := time.Now()
			_, err = through(l).Acquire(ctx, "job", nil)
			if len(told) != 1 || !strings.Contains(told[0].Error(), "no answer within 1s") {
				t.Errorf("after %d answers: told %v, want once that there is no answer", after, told)
			}
			if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "no answer within 1s") || took > 11*time.Second {
				t.Errorf("after %d answers: %v after %v", after, err, took)
			}
			l.Close()
		})
	}
}
