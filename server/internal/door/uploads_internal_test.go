package door

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// begin takes a place for an upload from an address that then arrives at a rate in
// bytes per second, or returns nil.
func begin(t *testing.T, l *uploads, from string, rate int64) *Upload {
	t.Helper()
	a := netip.Addr{}
	if from != "" {
		a = netip.MustParseAddr(from)
	}
	u := &Upload{from: a, control: http.NewResponseController(httptest.NewRecorder())}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	if !l.take(t.Context(), u, time.Second) {
		return nil
	}
	go func() {
		for range 60 {
			time.Sleep(time.Second)
			u.mu.Lock()
			u.read += rate
			u.mu.Unlock()
			if u.ctx.Err() != nil {
				break
			}
		}
		l.give(u)
	}()
	return u
}

// One client gets half of the places, or two if there are few, and those of a Unix
// socket, who may be all clients of a proxy, get all.
func TestUploadsOfOneClient(t *testing.T) {
	for _, c := range []struct {
		most int
		from string
		want int
	}{{1, "10.0.0.1", 1}, {2, "10.0.0.1", 2}, {4, "10.0.0.1", 2}, {8, "10.0.0.1", 4}, {8, "2001:db8::", 4}, {8, "", 8}} {
		synctest.Test(t, func(t *testing.T) {
			l, got := newUploads(c.most), 0
			for range c.most + 1 {
				if begin(t, l, c.from, 1) != nil {
					got++
				}
			}
			if got != c.want {
				t.Errorf("a client at %q sends %d uploads at once, want %d of %d", c.from, got, c.want, c.most)
			}
			if other := begin(t, l, "10.0.0.2", 1) != nil; other != (c.want < c.most) {
				t.Errorf("another client beside %d of %d: %v", c.want, c.most, other)
			}
			time.Sleep(time.Minute)
		})
	}
}

// Of those that take all places, the slowest gives way if it is slow or its client has
// another, once its rate is known.
func TestUploadsGiveWay(t *testing.T) {
	const fast = goodRate + goodRate/8 // the second in which others wait is not counted
	for name, c := range map[string]struct {
		rates [4]int64 // of two clients, two uploads each
		from  string
		after time.Duration
		ends  int // which, or -1
	}{
		"slow ones":           {[4]int64{fast, 1000, 900, fast}, "10.0.0.3", 7 * time.Second, 2},
		"too early":           {[4]int64{fast, 1000, 900, fast}, "10.0.0.3", 4 * time.Second, -1},
		"fast ones":           {[4]int64{4 * fast, 3 * fast, 2 * fast, 5 * fast}, "10.0.0.3", 7 * time.Second, 2},
		"its own slow one":    {[4]int64{fast, 1000, 900, fast}, "10.0.0.1", 7 * time.Second, 1},
		"its own are fast":    {[4]int64{4 * fast, 3 * fast, 900, 5 * fast}, "10.0.0.1", 7 * time.Second, -1},
		"others at one place": {[4]int64{4 * fast, 3 * fast, 2 * fast, 5 * fast}, "10.0.0.2", 7 * time.Second, -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newUploads(4)
				var all []*Upload
				for i, rate := range c.rates {
					all = append(all, begin(t, l, []string{"10.0.0.1", "10.0.0.2"}[i/2], rate))
				}
				time.Sleep(c.after + time.Millisecond)
				got := begin(t, l, c.from, fast)
				for i, u := range all {
					u.mu.Lock()
					if ended := u.ctx.Err() != nil; ended != (i == c.ends) {
						t.Errorf("upload %d: ended %v", i, ended)
					}
					u.mu.Unlock()
				}
				if (got != nil) != (c.ends >= 0) {
					t.Errorf("the one that waits got a place: %v", got != nil)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
}
