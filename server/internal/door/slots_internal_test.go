package door

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// Of the heavy requests as many are worked on as there are processors, and light ones are
// answered meanwhile. The other heavy ones wait, and are refused after five seconds.
func TestHeavyRequestsLeaveSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := New(&Options{
			Limits:    Limits{Requests: 64, Memory: 1 << 30, Body: 1 << 20, Response: time.Minute, Uploads: 1},
			Log:       slog.New(slog.DiscardHandler),
			Displaced: func() {}, Uploaded: func(int) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		enter := func(heavy bool) (func(), time.Duration, error) {
			began := time.Now()
			r := httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1/", nil)
			done, err := d.Enter(d.Record(httptest.NewRecorder()), r, Policy{Access: Probe, Cost: func(*http.Request, int64) (int64, bool) { return 1, heavy }})
			return done, time.Since(began), err
		}
		var working []func()
		for range runtime.GOMAXPROCS(0) {
			done, _, err := enter(true)
			if err != nil {
				t.Fatalf("a heavy request for each processor: %v", err)
			}
			working = append(working, done)
		}
		for range 3 {
			go func() {
				if _, waited, err := enter(true); !errors.Is(err, ErrBusy) || waited != longestWait {
					t.Errorf("one heavy request more than processors: %v after %v, want ErrBusy after %v", err, waited, longestWait)
				}
			}()
		}
		synctest.Wait()
		done, waited, err := enter(false)
		if err != nil || waited != 0 {
			t.Fatalf("a light request: %v after %v, want to be worked on at once", err, waited)
		}
		done()
		time.Sleep(longestWait + time.Second)
		working[0]()
		if done, waited, err = enter(true); err != nil || waited != 0 {
			t.Fatalf("a heavy request after another: %v after %v", err, waited)
		}
		done()
		for _, done := range working[1:] {
			done()
		}
	})
}
