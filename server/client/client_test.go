package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// request is what a server without a network has got.
type request struct {
	at                      time.Time
	method, path, body, key string
}

// fake answers requests without a network, on the clock of the test.
type fake struct {
	answer func(n int, r request) (status int, header http.Header, body string) // status 0: it gets lost
	hang   bool                                                                 // until the context of the request ends

	mu       sync.Mutex
	requests []request
	open     int // bodies of responses that nobody has closed
}

type body struct {
	io.Reader
	close func()
}

func (b body) Close() error { b.close(); return nil }

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	got := request{at: time.Now(), method: r.Method, path: r.URL.EscapedPath(), key: r.Header.Get("Idempotency-Key")}
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		got.body = string(text)
	}
	f.mu.Lock()
	f.requests = append(f.requests, got)
	n, hang := len(f.requests), f.hang
	f.mu.Unlock()
	if hang {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	status, header, text := f.answer(n, got)
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	f.mu.Lock()
	f.open++
	f.mu.Unlock()
	return &http.Response{StatusCode: status, Header: header, Request: r, Body: body{strings.NewReader(text), sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.open--
	})}}, nil
}

func (f *fake) client() *client.Client {
	return &client.Client{URL: "http://server", HTTP: &http.Client{Transport: f}}
}

// seen returns the requests with a path.
func (f *fake) seen(path string) (out []request) {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.requests {
		if r.path == path {
			out = append(out, r)
		}
	}
	return out
}

func (f *fake) hangs(hang bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hang = hang
}

// A request is sent again, with its body, when the server may accept it, and a few times.
func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		name     string
		status   int
		after    func() string
		refusals int
		requests int
		wait     time.Duration // at least; and a quarter more at most
	}{
		{"three times", 503, func() string { return "2" }, 3, 4, 6 * time.Second},
		{"four times", 503, func() string { return "2" }, 4, 4, 6 * time.Second},
		{"too many requests", 429, func() string { return "2" }, 1, 2, 2 * time.Second},
		{"until a time", 503, func() string { return time.Now().UTC().Add(10 * time.Second).Format(http.TimeFormat) }, 1, 2, 10 * time.Second},
		{"at once", 503, func() string { return "0" }, 1, 2, time.Millisecond},
		{"a minute", 503, func() string { return "60" }, 3, 4, 3 * time.Minute},
		{"more than a minute", 503, func() string { return "61" }, 1, 1, 0},
		{"unreadable", 503, func() string { return "soon" }, 1, 1, 0},
		{"another error", 500, func() string { return "2" }, 1, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answer: func(n int, _ request) (int, http.Header, string) {
					if n <= test.refusals {
						status, header, text := problem(test.status, "x")
						header.Set("Retry-After", test.after())
						return status, header, text
					}
					return 200, nil, `{"member":"m","gpid":"x"}`
				}}
				began := time.Now()
				_, err := f.client().Register(t.Context(), wire.Registration{Name: "shop"})
				if (err == nil) != (test.requests > test.refusals) {
					t.Errorf("Register: %v", err)
				}
				if took := time.Since(began); took < test.wait || took > test.wait*5/4+time.Millisecond {
					t.Errorf("it took %v, want %v and a quarter more at most", took, test.wait)
				}
				requests := f.seen("/v1/processes")
				if len(requests) != test.requests {
					t.Errorf("%d requests, want %d", len(requests), test.requests)
				}
				for _, r := range requests {
					var sent wire.Registration
					if err := json.Unmarshal([]byte(r.body), &sent); err != nil || sent.Name != "shop" || !sent.Clock.Equal(began) {
						t.Errorf("body %q, %v; want the registration with the time of this host", r.body, err)
					}
				}
				if f.open != 0 {
					t.Errorf("%d bodies are open", f.open)
				}
			})
		})
	}
}

// The end of a context ends the waiting, which does not begin if the context ends before it.
func TestRetryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(int, request) (int, http.Header, string) {
			status, header, text := problem(503, "busy")
			header.Set("Retry-After", "20")
			return status, header, text
		}}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		began := time.Now()
		var problem *client.Error
		if _, err := client.Get[wire.Inspection](ctx, f.client(), "/v1/ids/x"); !errors.As(err, &problem) || time.Since(began) != time.Second {
			t.Errorf("%v after %v, want the answer after a second", err, time.Since(began))
		}
		ctx, stop = context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		began = time.Now()
		if _, err := client.Get[wire.Inspection](ctx, f.client(), "/v1/ids/x"); !errors.As(err, &problem) || time.Since(began) != 0 {
			t.Errorf("%v after %v, want the answer at once", err, time.Since(began))
		}
	})
}

// endless is a body of blanks.
type endless struct{ read, most int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > e.most {
		return 0, errors.New("too much was read")
	}
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An error response that does not end costs little.
func TestEndlessError(t *testing.T) {
	blanks := endless{most: 1 << 20}
	c := &client.Client{URL: "http://server", HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 502, Request: r, Body: io.NopCloser(&blanks)}, nil
	})}}
	if _, err := client.Get[wire.Inspection](t.Context(), c, "/v1/ids/x"); !errors.Is(err, client.ErrResponse) || !strings.Contains(err.Error(), "status 502") || blanks.read > blanks.most {
		t.Errorf("%v after %d bytes", err, blanks.read)
	}
}

// A file is sent from where it was read to, also when it is sent again. A name with a
// slash is one part of a path. More ids than requested are refused.
func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ids")
		if err := os.WriteFile(path, []byte("read, and the rest"), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Seek(6, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		f := &fake{answer: func(n int, _ request) (int, http.Header, string) {
			if n == 1 {
				return 503, http.Header{"Retry-After": {"1"}}, "{}"
			}
			return 200, http.Header{"Content-Type": {"application/octet-stream"}}, `{"version":1}` + strings.Repeat(" ", 11)
		}}
		c := f.client()
		if _, err := c.Census(t.Context(), file, nil); err != nil {
			t.Error(err)
		}
		if got := f.seen("/v1/census"); len(got) != 2 || got[0].body != "and the rest" || got[1].body != "and the rest" {
			t.Errorf("a file is sent as %+v", got)
		}
		if _, err := client.Get[wire.Lock](t.Context(), c, "/v1/locks/a%2Fb%20c"); err != nil || len(f.seen("/v1/locks/a%2Fb%20c")) != 1 {
			t.Errorf("Lock: %v, %+v", err, f.requests)
		}
		if err := c.NewIDs(t.Context(), make([]objectid.ID, 2)); err != nil {
			t.Error(err)
		}
		if err := c.NewIDs(t.Context(), make([]objectid.ID, 1)); !errors.Is(err, client.ErrResponse) {
			t.Errorf("two ids for one: %v, want %v", err, client.ErrResponse)
		}
	})
}

// problem is a problem of the API with a status.
func problem(status int, kind string) (int, http.Header, string) {
	return status, http.Header{"Content-Type": {"application/problem+json"}}, fmt.Sprintf(`{"type":%q,"status":%d}`, wire.ProblemBase+kind, status)
}

// aboutMember is the answer to a request about a member.
func aboutMember(path string) string {
	return fmt.Sprintf(`{"member":%q}`, strings.Split(path, "/")[3])
}

// registry answers like a server: each registration gets another block.
func registry(beat func() int) *fake {
	blocks := 0
	return &fake{answer: func(_ int, r request) (int, http.Header, string) {
		switch {
		case r.path == "/v1/processes":
			blocks++
			return 200, nil, fmt.Sprintf(`{"member":"m%d","gpid":"p%d","process_block":"0000000%d","interval_seconds":10}`, blocks, blocks, blocks)
		case strings.HasSuffix(r.path, "/heartbeats"):
			if status := beat(); status != 200 {
				return problem(status, "x")
			}
		}
		return 200, nil, aboutMember(r.path)
	}}
}

// unsteady is a registry that answers with a status instead while down is set.
func unsteady(status int) (f *fake, down *atomic.Bool) {
	up := registry(func() int { return 200 })
	down = new(atomic.Bool)
	return &fake{answer: func(n int, r request) (int, http.Header, string) {
		if down.Load() {
			return problem(status, "x")
		}
		return up.answer(n, r)
	}}, down
}

func block(id objectid.ID) int { return int(id[7]) }

// A member that the server has forgotten, or whose block another may have, registers
// again and uses the new block once.
func TestMemberRegistersAgain(t *testing.T) {
	for _, status := range []int{404, 409} {
		synctest.Test(t, func(t *testing.T) {
			var beat atomic.Int64
			beat.Store(200)
			f := registry(func() int { return int(beat.Load()) })
			warnings := make(chan error, 10)
			m, err := f.client().NewMember(t.Context(), wire.Registration{Name: "shop"}, &client.MemberOptions{Warn: func(err error) { warnings <- err }})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(15 * time.Second)
			var sent wire.Registration
			host, _ := os.Hostname()
			if err := json.Unmarshal([]byte(f.seen("/v1/processes")[0].body), &sent); err != nil || sent.PID != uint32(os.Getpid()) || sent.Host != host {
				t.Errorf("registered as %+v, %v; want the pid and the host of this process", sent, err)
			}
			if id := m.New(); block(id) != 1 || len(f.seen("/v1/members/m1/heartbeats")) != 2 {
				t.Errorf("after two heartbeats: block %d, %+v", block(id), f.requests)
			}
			beat.Store(int64(status))
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if id := m.New(); block(id) != 2 || m.GPID() != "p2" || m.Key() != "m2" {
				t.Errorf("forgotten: block %d of %s, want the second", block(id), m.GPID())
			}
			beat.Store(200)
			m.Generator().Reseed() // as if the machine had been copied
			m.New()
			synctest.Wait()
			if id := m.New(); block(id) != 3 || m.GPID() != "p3" {
				t.Errorf("copied: block %d of %s, want the third", block(id), m.GPID())
			}
			if len(warnings) > 0 {
				t.Errorf("warning: %v", <-warnings)
			}
			keys := map[string]bool{}
			for _, r := range f.seen("/v1/processes") {
				keys[r.key] = len(r.key) >= 16
			}
			if len(keys) != 3 || keys[""] {
				t.Errorf("three registrations have the keys %v", keys)
			}
			beat.Store(500)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			var problem *client.Error
			if n := len(warnings); n != 1 || !errors.As(<-warnings, &problem) || problem.Status != 500 {
				t.Errorf("%d warnings, the first %v; want one of status 500", n, problem)
			}
			f.hangs(true) // also the report of the end, for five seconds
			time.Sleep(10 * time.Second)
			began := time.Now()
			if err := m.End("done"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
				t.Errorf("End: %v after %v", err, time.Since(began))
			}
			if len(warnings) > 0 {
				t.Errorf("the end of a member is a warning: %v", <-warnings)
			}
		})
	}
}

// A registration without an answer is sent again with the same key, by Register a few times,
// by a caller with a key of its own and by a member until it succeeds.
func TestRegistrationIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost atomic.Int64
		lost.Store(3)
		blocks := registry(func() int { return 404 })
		f := &fake{answer: func(n int, r request) (int, http.Header, string) {
			if lost.Add(-1) >= 0 && r.path == "/v1/processes" {
				return 0, nil, ""
			}
			return blocks.answer(n, r)
		}}
		keys := func() (all []string) {
			for _, r := range f.seen("/v1/processes") {
				all = append(all, r.key)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.requests = nil
			return slices.Compact(all)
		}
		c := f.client()
		if _, err := c.Register(t.Context(), wire.Registration{Name: "shop"}); err != nil || len(f.seen("/v1/processes")) != 4 || len(keys()) != 1 {
			t.Errorf("three lost answers: %v, %+v", err, f.requests)
		}
		lost.Store(4)
		if _, err := c.Register(t.Context(), wire.Registration{Name: "shop"}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("four lost answers: %v", err)
		}
		mine := wire.Registration{Name: "shop", Key: "a key of the caller"}
		keys()
		for range 2 {
			if _, err := c.Register(t.Context(), mine); err != nil {
				t.Error(err)
			}
		}
		if got := keys(); len(got) != 1 || got[0] != mine.Key {
			t.Errorf("keys %q, want that of the caller", got)
		}
		lost.Store(0)
		m, err := c.NewMember(t.Context(), wire.Registration{Name: "shop"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		first := keys()
		lost.Store(20) // of the registration after the heartbeat, more than Register repeats
		time.Sleep(5 * time.Minute)
		got := keys()
		if lost.Load() >= 0 || len(got) < 2 || got[0] == first[0] || got[1] == got[0] {
			t.Errorf("%d answers to lose, keys %q; want one for each registration", lost.Load(), got)
		}
		for i, key := range got {
			if slices.Contains(got[:i], key) {
				t.Errorf("%q is the key of two registrations", key)
			}
		}
		if err := m.End("done"); err != nil {
			t.Error(err)
		}
	})
}

// A server that does not answer for an hour, or only with errors, gets requests that end and
// come ever more rarely; the program hears once that it is gone, and once that it is back.
func TestMemberOutage(t *testing.T) {
	for _, hangs := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var beat atomic.Int64
			beat.Store(200)
			f := registry(func() int { return int(beat.Load()) })
			var warnings []error
			m, err := f.client().NewMember(t.Context(), wire.Registration{Name: "shop"}, &client.MemberOptions{Warn: func(err error) { warnings = append(warnings, err) }})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(25 * time.Second)
			f.hangs(hangs)
			beat.Store(503)
			time.Sleep(time.Hour)
			f.hangs(false)
			beat.Store(200)
			time.Sleep(2 * time.Minute)
			beats := f.seen("/v1/members/m1/heartbeats")
			if n := len(beats); n < 50 || n > 90 {
				t.Errorf("%d heartbeats, want one a minute or fewer in the outage, and one in 10 s else", n)
			}
			for i, r := range beats[1:] {
				if pause := r.at.Sub(beats[i].at); pause < time.Second || pause > 90*time.Second {
					t.Errorf("%v between two heartbeats", pause)
				}
			}
			if len(warnings) != 2 || errors.Is(warnings[0], client.ErrBack) || !errors.Is(warnings[1], client.ErrBack) {
				t.Errorf("warnings %v, want one of the outage and one of its end", warnings)
			}
			if err := m.End("done"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A generator that asks for another block every second of an outage causes no more requests
// than the outage does, and gets its block when that ends.
func TestMemberAsksInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, down := unsteady(503)
		m, err := f.client().NewMember(t.Context(), wire.Registration{Name: "shop"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		down.Store(true)
		for range 600 {
			m.Generator().Reseed()
			time.Sleep(time.Second)
		}
		if n := len(f.seen("/v1/processes")); n > 20 {
			t.Errorf("%d registrations in ten minutes", n)
		}
		down.Store(false)
		time.Sleep(2 * time.Minute)
		if id := m.New(); block(id) < 2 || m.Key() == "m1" {
			t.Errorf("after the outage: block %d of %s", block(id), m.Key())
		}
		if err := m.End("done"); err != nil {
			t.Error(err)
		}
	})
}

func TestMemberRefuses(t *testing.T) {
	for _, answer := range []string{
		`{"member":"m","gpid":"p","process_block":"0102","interval_seconds":10}`, `{"member":"m","gpid":"p","process_block":"010203xx","interval_seconds":10}`,
		`{"member":"m","gpid":"p","process_block":"01020304"}`, `{"member":"m","gpid":"p","process_block":"0102030405","interval_seconds":10}`,
		`{"member":"m","gpid":"p","process_block":"01020304","interval_seconds":0.99}`, `{"member":"m","gpid":"p","process_block":"01020304","interval_seconds":3601}`,
		`{"member":"m","gpid":"p","process_block":"01020304","interval_seconds":1e300}`,
	} {
		f := &fake{answer: func(int, request) (int, http.Header, string) { return 200, nil, answer }}
		if _, err := f.client().NewMember(t.Context(), wire.Registration{Name: "shop"}, nil); !errors.Is(err, client.ErrResponse) {
			t.Errorf("%s: %v, want %v", answer, err, client.ErrResponse)
		}
	}
	f := registry(nil)
	if _, err := f.client().NewMember(t.Context(), wire.Registration{Name: "shop", EvidenceIDs: make([]objectid.ID, 1)}, nil); err == nil || len(f.requests) > 0 {
		t.Errorf("a member with samples: %v, %+v", err, f.requests)
	}
}
