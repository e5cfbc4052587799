package server_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/store"
)

// manyIDs is a request for as many ids as one may be for. The answers to several do not
// fit into what the system keeps for a client that reads nothing.
const manyIDs = "POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n" + `{"count":10000}`

// Ids that cannot be sent to a client are not counted as created.
func TestIDsThatAreNotSent(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	c := r.dial(t)
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	const asked = 200
	fmt.Fprint(c, strings.Repeat(manyIDs, asked))
	if _, err := io.ReadFull(c, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	sent := func() float64 { return metric(t, r, "oid_ids_created_total") }
	await(t, "the server waits for the client", func() bool {
		n := sent()
		time.Sleep(200 * time.Millisecond)
		return n == sent() && metric(t, r, "oid_http_requests_in_flight") == 2
	})
	answered := metric(t, r, `oid_http_requests_total{code="200",method="POST",route="/v1/ids"}`)
	c.Close()
	await(t, "the request ends", func() bool { return metric(t, r, "oid_http_requests_in_flight") == 1 })
	if n := sent(); answered >= asked || n != answered*10_000 {
		t.Errorf("%v ids were counted for %v answers that were sent", n, answered)
	}
}

// An upload below the lowest rate is cut off, one above it is not.
func TestSlowUpload(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	r := serve(t, server.Options{Limits: server.Limits{Request: 2 * time.Second, Uploads: 8}})
	send := func(each int) (int, string, error) {
		c := r.dial(t)
		const pieces = 50
		fmt.Fprintf(c, "POST /v1/census HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", each*pieces)
		go func() {
			for range pieces {
				if _, err := io.WriteString(c, strings.Repeat("507f1f77bcf86cd799439011\n", each/25)); err != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		}()
		return answerOn(t, c)
	}
	var both sync.WaitGroup
	both.Go(func() { // 2.5 KB a second
		if status, body, err := send(250); status != 408 || !strings.Contains(body, "too slow") {
			t.Errorf("slow: %d %s %v", status, body, err)
		}
	})
	both.Go(func() { // 100 KB a second
		if status, body, err := send(10_000); status != 200 {
			t.Errorf("fast enough: %d %s %v", status, body, err)
		}
	})
	both.Wait()
}

// Scrapes that follow one another do not count the processes each time.
func TestAliveIsCached(t *testing.T) {
	r := serve(t, server.Options{})
	for range 5 {
		metric(t, r, "oid_processes_alive")
	}
	if n := metric(t, r, `oid_store_duration_seconds_count{call="overview"}`); n < 1 || n > 2 {
		t.Errorf("5 scrapes have counted %v times, want once or twice", n)
	}
}

// hanging is a store whose reads wait while it hangs.
type hanging struct {
	store.Store
	hangs         atomic.Bool
	release       chan struct{}
	now, together atomic.Int64 // reads in flight, and the most of them
}

func (h *hanging) wait() {
	if !h.hangs.Load() {
		return
	}
	n := h.now.Add(1)
	defer h.now.Add(-1)
	for most := h.together.Load(); n > most && !h.together.CompareAndSwap(most, n); most = h.together.Load() {
	}
	<-h.release // whatever happens to the context
}

func (h *hanging) Get(ctx context.Context, collection string, key store.Key) (bson.Raw, error) {
	h.wait()
	return h.Store.Get(ctx, collection, key)
}

func (h *hanging) GetMany(ctx context.Context, collection string, keys []store.Key) ([]bson.Raw, error) {
	h.wait()
	return h.Store.GetMany(ctx, collection, keys)
}

func (h *hanging) FindMany(ctx context.Context, collection string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	h.wait()
	return h.Store.FindMany(ctx, collection, ranges, limit)
}

func (h *hanging) Find(ctx context.Context, collection string, q store.Query) iter.Seq2[bson.Raw, error] {
	h.wait()
	return h.Store.Find(ctx, collection, q)
}

func serveHanging(t *testing.T, limits server.Limits) (*running, *hanging) {
	t.Helper()
	h := &hanging{release: make(chan struct{})}
	r := serve(t, server.Options{Limits: limits, Open: func(ctx context.Context) (store.Store, error) {
		s, err := memoryStore(ctx)
		h.Store = s
		return h, err
	}})
	h.hangs.Store(true)
	t.Cleanup(sync.OnceFunc(func() { h.hangs.Store(false); close(h.release) }))
	return r, h
}

// However many requests wait for a store that hangs, it gets a bounded number of
// calls, and what needs no store is answered.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	r, h := serveHanging(t, server.Limits{Store: time.Second})
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() { r.get(t, "/v1/ids/507f1f77bcf86cd799439011") })
	}
	all.Wait()
	if n := h.together.Load(); n == 0 || n > 64 {
		t.Errorf("%d calls at once, want 1 to 64", n)
	}
	if got := r.post(t, "/v1/ids", `{}`); got.status != 200 {
		t.Errorf("ids: %d", got.status)
	}
}

// When all slots are taken, a request waits a moment and is then refused with the time
// to wait.
func TestNoSlot(t *testing.T) {
	t.Parallel()
	r, _ := serveHanging(t, server.Limits{Requests: 1, Store: 20 * time.Second, Response: 2 * time.Second, Request: 20 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", r.url+"/v1/ids/507f1f77bcf86cd799439011", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if res, err := r.client.Do(req); err == nil {
			res.Body.Close()
		}
	}()
	await(t, "the slot is taken", func() bool {
		got := r.get(t, "/v1/range?since=1h")
		if got.status != 503 {
			return false
		}
		wantProblem(t, got, 503, "busy")
		if got.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		return true
	})
	if got := r.get(t, "/livez"); got.status != 200 {
		t.Errorf("livez: %d", got.status)
	}
}
