package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/internal/backoff"
)

// A pause doubles up to the longest, begins again after Reset, and differs between two that
// failed together.
func TestBackoff(t *testing.T) {
	const ms = time.Millisecond
	different := map[time.Duration]bool{}
	for range 200 {
		b := backoff.Backoff{First: 100 * ms, Max: 700 * ms}
		for i, want := range []time.Duration{100 * ms, 200 * ms, 400 * ms, 700 * ms, 700 * ms, 100 * ms} {
			if i == 5 {
				b.Reset()
			}
			got := b.Next()
			if got < want/2 || got > want {
				t.Fatalf("pause %d is %v, want half of %v to all of it", i+1, got, want)
			}
			different[got] = true
		}
	}
	if len(different) < 1000 {
		t.Errorf("200 that failed together had %d different pauses of 1200", len(different))
	}
	b := backoff.Backoff{First: time.Minute, Max: time.Second}
	if got := b.Next(); got > time.Second {
		t.Errorf("the first pause is %v, longer than the longest", got)
	}
	if got := backoff.Between(5, 5); got != 5 {
		t.Errorf("between 5 and 5: %d", got)
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		began := time.Now()
		if err := backoff.Sleep(ctx, 40*time.Second); err != nil || time.Since(began) != 40*time.Second {
			t.Errorf("Sleep of 40 s: %v after %v", err, time.Since(began))
		}
		if err := backoff.Sleep(ctx, 40*time.Second); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("Sleep beyond the end: %v after %v", err, time.Since(began))
		}
	})
}
