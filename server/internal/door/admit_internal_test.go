package door

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

const mebibyte = 1 << 20

// admission calls Enter of one Door with a fake clock.
type admission struct {
	*Door
	ctx context.Context // of the requests
}

func inBubble(t *testing.T, memory int64, test func(t *testing.T, a *admission)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d, err := New(&Options{
			Limits:    Limits{Connections: 4, PerAddress: 4, Requests: 64, Memory: memory, Body: mebibyte, Response: time.Minute, Uploads: 1},
			Log:       slog.New(slog.DiscardHandler),
			Displaced: func() {}, Uploaded: func(int) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		test(t, &admission{d, t.Context()})
	})
}

// enter admits a request that costs as much as given, and returns how long it waited.
func (a *admission) enter(memory int64, heavy bool) (done func(), waited time.Duration, err error) {
	began := time.Now()
	r := httptest.NewRequestWithContext(a.ctx, "GET", "http://127.0.0.1/", nil)
	done, err = a.Enter(a.Record(httptest.NewRecorder()), r, Policy{Access: Probe, Cost: func(*http.Request, int64) (int64, bool) { return memory, heavy }})
	return done, time.Since(began), err
}

// atOnce admits a request that must not wait.
func (a *admission) atOnce(t *testing.T, what string, memory int64, heavy bool) (done func()) {
	t.Helper()
	done, waited, err := a.enter(memory, heavy)
	if err != nil || waited != 0 {
		t.Fatalf("%s: %v after %v, want to be worked on at once", what, err, waited)
	}
	return done
}

// refused expects that a request waits for as long as a request may, and is then refused.
func (a *admission) refused(t *testing.T, what string, memory int64, heavy bool, want error) {
	t.Helper()
	if _, waited, err := a.enter(memory, heavy); !errors.Is(err, want) || waited != longestWait {
		t.Errorf("%s: %v after %v, want %v after %v", what, err, waited, want, longestWait)
	}
}

// Of the heavy requests as many are worked on as there are processors, and light ones are
// answered meanwhile. The other heavy ones wait, and are refused after five seconds.
func TestHeavyRequestsLeaveSlots(t *testing.T) {
	inBubble(t, 1<<30, func(t *testing.T, a *admission) {
		var working []func()
		for range runtime.GOMAXPROCS(0) {
			working = append(working, a.atOnce(t, "a heavy request for each processor", 1, true))
		}
		for range 3 {
			go a.refused(t, "one heavy request more than processors", 1, true, ErrBusy)
		}
		synctest.Wait()
		a.atOnce(t, "a light request", 1, false)()
		time.Sleep(longestWait + time.Second)
		working[0]()
		a.atOnce(t, "a heavy request after another", 1, true)()
		for _, done := range working[1:] {
			done()
		}
	})
}

// All requests together take no more memory than the limit, and large ones at most three
// quarters of it, so that small ones are admitted while large ones wait. What a request has
// taken is free when it is done, also if it was refused.
func TestMemoryOfRequestsIsBounded(t *testing.T) {
	inBubble(t, 8*mebibyte, func(t *testing.T, a *admission) {
		if _, waited, err := a.enter(6*mebibyte+1, false); !errors.Is(err, ErrMemory) || waited != 0 {
			t.Errorf("more than large requests may ever take: %v after %v, want ErrMemory at once", err, waited)
		}
		large := a.atOnce(t, "three quarters of the memory", 6*mebibyte, false)
		for range runtime.GOMAXPROCS(0) + 1 { // each gives back the slot that it has got before
			a.refused(t, "a large request beside it", mebibyte, true, ErrMemory)
		}
		var small []func()
		for range 4 {
			small = append(small, a.atOnce(t, "a small request in the last quarter", mebibyte/2, false))
		}
		if got := a.MemoryInUse(); got != 8*mebibyte {
			t.Errorf("%d bytes are taken, want all", got)
		}
		a.refused(t, "a small request more", mebibyte/2, false, ErrMemory)
		small[0]()
		a.atOnce(t, "a small request after another", mebibyte/2, false)()
		large()
		a.atOnce(t, "a large request after another", 4*mebibyte, false)()
		for _, done := range small[1:] {
			done()
		}
		if got := a.MemoryInUse(); got != 0 {
			t.Errorf("%d bytes are taken after all requests, want 0", got)
		}
	})
}

// If the memory is taken, the connection is closed whose client has kept the server waiting
// longest, but only if that was longer than a second.
func TestStalledClientsGiveMemory(t *testing.T) {
	const tick = stalled / 10
	for name, c := range map[string]struct{ pause, wait time.Duration }{
		"none is stalled yet": {stalled / 4, stalled/2 + tick},
		"both are stalled":    {2 * stalled, tick},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 8*mebibyte, func(t *testing.T, a *admission) {
				open := newConnections(nil, a.options.Limits, func(netip.Addr) bool { return false }, a.options.Displaced)
				a.connections.Store(open)
				connect := func() *connection {
					server, client := net.Pipe()
					t.Cleanup(func() { client.Close() })
					conn := &connection{Conn: server, list: open, began: time.Now()}
					open.add(conn)
					return conn
				}
				idle := connect() // longest of all, but has no memory
				ended := make(chan int, 2)
				for i := range 2 {
					conn := connect()
					of := &admission{a.Door, WithConnection(a.ctx, conn)}
					done := of.atOnce(t, "a request of each client", 3*mebibyte, false)
					go func() {
						_, _ = conn.Write(make([]byte, 1)) // until it is closed, because the client does not read
						done()
						ended <- i
					}()
					time.Sleep(c.pause)
				}
				done, waited, err := a.enter(3*mebibyte, false)
				if err != nil || waited < c.wait || waited > c.wait+tick {
					t.Fatalf("a request that needs the memory of a client that does not read: %v after %v, want it after %v", err, waited, c.wait)
				}
				done()
				if len(ended) != 1 || <-ended != 0 {
					t.Error("the connection that was closed is not that of the client that has waited longest")
				}
				if _, isOpen := open.open[idle]; !isOpen {
					t.Error("a connection without a request was closed")
				}
			})
		})
	}
}
