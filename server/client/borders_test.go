package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// between answers with handler while down is set, otherwise as a server does.
func between(handler http.Handler) (f *fake, down *atomic.Bool) {
	up := registry(func() int { return 200 })
	down = new(atomic.Bool)
	return &fake{answer: func(n int, r request) (int, http.Header, string) {
		if !down.Load() {
			return up.answer(n, r)
		}
		if r.method == http.MethodGet { // redirected
			return 200, http.Header{"Content-Type": {"application/json"}}, `{"processes":[],"member":"m1","gpid":"p1","recorded":2,"version":1}`
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(r.method, "http://server"+r.path, http.NoBody))
		return w.Code, w.Header(), w.Body.String()
	}}, down
}

// An answer that does not come from oid serve is an outage. No call takes it for success or for
// a refusal, and requests that are safe to repeat are repeated. A member does not register again
// because of it, and its end is still reported.
func TestBorders(t *testing.T) {
	for _, b := range testenv.Borders() {
		t.Run(b.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, down := between(&b)
				c := f.client()
				down.Store(true)
				for name, call := range map[string]func() error{
					"Register":    func() error { _, err := c.Register(t.Context(), wire.Registration{Name: "shop"}); return err },
					"Heartbeat":   func() error { _, err := c.Heartbeat(t.Context(), "m1", wire.Load{}); return err },
					"Heartbeats":  func() error { _, err := c.Heartbeats(t.Context(), make([]wire.HeartbeatOf, 2)); return err },
					"AddEvidence": func() error { _, err := c.AddEvidence(t.Context(), "m1", "", objectid.ID{1}); return err },
					"End":         func() error { return c.End(t.Context(), "m1", "done", 0) },
					"Census":      func() error { _, err := c.Census(t.Context(), strings.NewReader("x"), nil); return err },
					"NewIDs":      func() error { return c.NewIDs(t.Context(), make([]objectid.ID, max(1, len(b.Body)/12))) },
				} {
					err := call()
					if problem, refused := errors.AsType[*client.Error](err); !errors.Is(err, client.ErrResponse) || refused {
						t.Errorf("%s: %v, %+v; want %v", name, err, problem, client.ErrResponse)
					}
				}
				down.Store(false)

				var warnings []error
				m, err := c.NewMember(t.Context(), wire.Registration{Name: "shop"}, &client.MemberOptions{Warn: func(err error) { warnings = append(warnings, err) }})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
				first, registered := block(m.New()), len(f.seen("/v1/processes"))
				down.Store(true)
				time.Sleep(10 * time.Minute)
				if id := m.New(); block(id) != first || len(f.seen("/v1/processes")) != registered {
					t.Errorf("block %d after %d, %d registrations", block(id), first, len(f.seen("/v1/processes"))-registered)
				}
				down.Store(false)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if len(warnings) != 2 || !errors.Is(warnings[1], client.ErrBack) {
					t.Errorf("warnings %v, want one and one of the end", warnings)
				}
				down.Store(true)
				time.AfterFunc(2*time.Second, func() { down.Store(false) })
				if err := m.End("done"); err != nil && b.Header != "Retry-After: 5" { // End takes five seconds at most
					t.Errorf("End: %v", err)
				}
				time.Sleep(3 * time.Second)

				down.Store(true) // a program that starts before the proxy is well
				ids := &client.IDs{Client: c}
				if _, err := ids.New(t.Context()); err == nil {
					t.Error("an id without a registration")
				}
				down.Store(false)
				time.Sleep(2 * time.Minute)
				if _, err := ids.New(t.Context()); err != nil {
					t.Error(err)
				}
				keys := map[string]int{}
				for _, r := range f.seen("/v1/processes") {
					keys[r.key]++
				}
				if len(keys) != 3 { // of Register, of the member, and of the ids
					t.Errorf("keys %v", keys)
				}
				if m, err := ids.Member(t.Context()); err != nil || m.End("done") != nil {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// The error says which request was answered by what, and what to check.
func TestBorderText(t *testing.T) {
	f, down := between(http.RedirectHandler("https://new.example/v1/processes", http.StatusMovedPermanently))
	down.Store(true)
	c := f.client()
	c.Retries = -1
	_, err := c.Register(t.Context(), wire.Registration{Name: "shop"})
	if want := "client: invalid response: POST http://server/v1/processes: status 200, content type "; err == nil || !strings.HasPrefix(err.Error(), want) ||
		!strings.Contains(err.Error(), "redirected to GET https://new.example/v1/processes") {
		t.Errorf("%v", err)
	}
	f, down = between(&testenv.Border{Status: 400, Type: "text/html", Body: "\r\n<html>\x00 long " + strings.Repeat("x", 1000)})
	down.Store(true)
	_, err = f.client().Heartbeat(t.Context(), "m1", wire.Load{})
	if err == nil || !strings.Contains(err.Error(), `POST http://server/v1/members/m1/heartbeats: status 400, content type "text/html": "<html>\x00 long xxx`) || len(err.Error()) > 400 {
		t.Errorf("%v", err)
	}
}

// The end of a context is seen in the error, also while an answer is read.
func TestBorderContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &raw{answer: func(*http.Request) (string, bool) { return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", true }}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := s.client(t).Heartbeat(ctx, "m1", wire.Load{}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, client.ErrResponse) {
			t.Errorf("%v", err)
		}
	})
}

// Answers that fit another request are not taken for this one.
func TestAnswersOfAnotherRequest(t *testing.T) {
	beats := make([]wire.HeartbeatOf, 3)
	for body, fits := range map[string]bool{
		`{"recorded":3}`: true,
		`{"recorded":2,"problems":[{"member":"a","status":404}]}`:                true,
		`{"recorded":3,"problems":[{"member":"a","status":409,"rivals":["x"]}]}`: true,
		`{"recorded":0}`: false,
		`{"recorded":4}`: false,
		`{"recorded":1,"problems":[{"member":"a","status":404}]}`: false,
	} {
		f := &fake{answer: func(int, request) (int, http.Header, string) { return 200, nil, body }}
		if _, err := f.client().Heartbeats(t.Context(), beats); errors.Is(err, client.ErrResponse) == fits || (err == nil) != fits {
			t.Errorf("%s: %v", body, err)
		}
	}
	f, down := between(&testenv.Border{Status: 200, Type: "text/html", Body: "<html>of 24 bytes</html>"})
	down.Store(true)
	if err := f.client().NewIDs(t.Context(), make([]objectid.ID, 2)); !errors.Is(err, client.ErrResponse) {
		t.Errorf("a page taken for two ids: %v", err)
	}
	f = &fake{answer: func(int, request) (int, http.Header, string) { return 200, nil, aboutMember("/v1/members/m2") }}
	if _, err := f.client().Heartbeat(t.Context(), "m1", wire.Load{}); !errors.Is(err, client.ErrResponse) {
		t.Errorf("the answer about another member: %v", err)
	}
	c := f.client()
	c.Retries = -1
	if err := c.End(t.Context(), "m1", "done", 0); !errors.Is(err, client.ErrResponse) {
		t.Errorf("the answer about another member: %v", err)
	}
}

// Gone is true only for refusals after which a process must register again, and not for others
// with the same status. Reporting an end that is recorded already is not an error.
func TestGone(t *testing.T) {
	for kind, want := range map[string]bool{"not-found": true, "ended": true, "no-endpoint": false, "no-token": false, "invalid": false} {
		status := map[string]int{"ended": 409, "no-token": 401, "invalid": 422}[kind]
		if status == 0 {
			status = 404
		}
		f := &fake{answer: func(int, request) (int, http.Header, string) { return problem(status, kind) }}
		_, err := f.client().Heartbeat(t.Context(), "m1", wire.Load{})
		if got, ok := errors.AsType[*client.Error](err); !ok || got.Gone() != want || got.Status != status || got.Type != wire.ProblemBase+kind {
			t.Errorf("%s: %v", kind, err)
		}
		if err := f.client().End(t.Context(), "m1", "done", 0); (err == nil) != (kind == "ended") {
			t.Errorf("End, %s: %v", kind, err)
		}
	}
}
