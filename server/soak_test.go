package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/server/wire"
)

// Minutes of ordinary work, beside clients that do what they can to keep others out,
// and with a store that goes away twice: requests that need no store are always answered, the
// others are told to wait, and the memory does not grow.
func TestSoak(t *testing.T) {
	if !soak() {
		t.Skip("takes minutes; see make soak")
	}
	length, err := time.ParseDuration(os.Getenv("OID_SOAK"))
	if err != nil {
		length = 10 * time.Minute
	}
	s := serveApart(t)
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var all sync.WaitGroup
	for _, a := range attacks {
		all.Go(func() { a(ctx, s.url) })
	}
	var away atomic.Bool // the store, or it was a moment ago
	all.Go(func() {
		for range 2 {
			if !sleep(ctx, length/4) {
				return
			}
			away.Store(true)
			unlock := lockDatabase(t, s.store)
			sleep(ctx, min(length/20, 30*time.Second))
			unlock()
			sleep(ctx, 10*time.Second)
			away.Store(false)
		}
	})
	var done, waited, refused atomic.Int64
	do := func(method, path, body string, needsStore bool) []byte {
		wasAway := away.Load()
		req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return nil
		}
		req.Header.Set("Content-Type", "application/json")
		began := time.Now()
		res, err := s.client.Do(req)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			t.Errorf("%s %s: %v", method, path, err)
			return nil
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			t.Errorf("%s %s: %v", method, path, err)
		case res.StatusCode == 503 && res.Header.Get("Retry-After") != "" && needsStore && (wasAway || away.Load()):
			refused.Add(1)
		case res.StatusCode == 503 && strings.HasPrefix(path, "/v1/census"):
			refused.Add(1) // hostile uploads have all places
		case res.StatusCode/100 != 2:
			t.Errorf("%s %s: status %d: %s", method, path, res.StatusCode, answer)
		default:
			done.Add(1)
			if time.Since(began) > time.Second && !(needsStore && away.Load()) {
				waited.Add(1)
			}
			return answer
		}
		return nil
	}
	for i := range 8 {
		all.Go(func() {
			process := ""
			for n := 0; ctx.Err() == nil; n++ {
				do("POST", "/v1/ids", `{"count":100}`, false)
				do("GET", "/v1/ids/507f1f77bcf86cd799439011?trace=false", "", false)
				do("GET", "/v1/ids/507f1f77bcf86cd799439011", "", false) // without a trace while the store is away
				do("GET", "/livez", "", false)
				switch {
				case process == "":
					answer := string(do("POST", "/v1/processes", fmt.Sprintf(`{"name":"soak","pid":%d}`, i*100_000+n+1), true))
					if _, rest, ok := strings.Cut(answer, `"member":"`); ok {
						key, _, _ := strings.Cut(rest, `"`)
						process = memberPath(key)
					}
				case n%50 == 49:
					do("DELETE", process, "", true)
					process = ""
				default:
					do("POST", process+"/heartbeats", `{"memory_bytes":5}`, true)
				}
				if n%20 == 0 {
					do("POST", "/v1/census", strings.Repeat("507f1f77bcf86cd799439011\n", 1000), false)
				}
				sleep(ctx, 100*time.Millisecond)
			}
		})
	}
	sleep(ctx, length/3)
	early := s.peak(t)
	all.Wait()
	late := s.peak(t)
	t.Logf("%d requests in %v, %d of them longer than a second, %d told to wait; peak of %d MiB after a third of the time and %d MiB at the end",
		done.Load(), length, waited.Load(), refused.Load(), early, late)
	if late > early+early/2 {
		t.Errorf("the peak was %d MiB after a third of the time, and %d MiB at the end", early, late)
	}
	if refused.Load() == 0 {
		t.Error("nobody noticed that the store was away")
	}
	// Afterwards everything is as before.
	got := decode[wire.Registered](t, s.post(t, "/v1/processes", `{"name":"after","pid":1}`), 201)
	if got.ProcessBlock == "" {
		t.Errorf("%+v", got)
	}
}

// sleep waits, and reports whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
