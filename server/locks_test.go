package server_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store/sqlitestore"
)

// A job runs under a lock and two others wait for it: the API and the page show all
// that, and that the lock is free at the end.
func TestLocks(t *testing.T) {
	path := t.TempDir() + "/locks.db"
	open := func(ctx context.Context) (lock.Locker, error) {
		s, err := sqlitestore.Open(ctx, path, nil)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = s.Close() })
		return storelock.New(s, nil)
	}
	jobs, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer jobs.Close()
	lease, err := jobs.Acquire(t.Context(), "nightly-report", &lock.AcquireOptions{Command: "./report.sh"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, giveUp := context.WithCancel(t.Context())
	waited := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := jobs.Acquire(ctx, "nightly-report", nil)
			waited <- err
		}()
	}
	r := serve(t, server.Options{OpenLocks: open})
	await(t, "two waiters", func() bool {
		l := decode[wire.Lock](t, r.get(t, "/v1/locks/nightly-report"), 200)
		return l.Waiters != nil && *l.Waiters == 2 && l.Holder.Command == "./report.sh" && l.Holder.Fence == lease.Fence()
	})
	if all := decode[wire.Locks](t, r.get(t, "/v1/locks"), 200); len(all.Locks) != 1 || all.Locks[0].Name != "nightly-report" || all.Next != "" {
		t.Errorf("/v1/locks: %+v", all)
	}
	for path, want := range map[string]string{"/locks": "./report.sh", "/": "2 waiting", "/locks?q=REPORT": "nightly-report", "/locks?q=nightly": "<td>2</td>"} {
		await(t, path, func() bool { return strings.Contains(r.get(t, path, "Accept", "text/html").body, want) })
	}
	await(t, "a held lock in the metrics", func() bool { return metric(t, r, "oid_locks_held") == 1 })
	if page := r.get(t, "/locks?q=other", "Accept", "text/html").body; !strings.Contains(page, "No lock is held") {
		t.Error("the search shows a lock without the text")
	}
	giveUp()
	for range 2 {
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Errorf("a waiter: %v", err)
		}
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of the lock", func() bool { return r.get(t, "/v1/locks/nightly-report").status == 404 })
	await(t, "no held lock in the metrics", func() bool { return metric(t, r, "oid_locks_held") == 0 })
	wantProblem(t, r.get(t, "/v1/locks/nightly-report"), 404, `lock \"nightly-report\": nobody holds this lock or waits for it`)
}

// The list is in pages, which together have every lock once.
func TestLocksInPages(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	r := serve(t, server.Options{OpenLocks: withLocks(t, names...)})
	var got []string
	for after := ""; ; {
		page := decode[wire.Locks](t, r.get(t, "/v1/locks?limit=2&after="+after), 200)
		if len(page.Locks) > 2 || page.Next != "" && len(page.Locks) < 2 {
			t.Errorf("a page of 2 has %d locks, next %q", len(page.Locks), page.Next)
		}
		for _, l := range page.Locks {
			got = append(got, l.Name)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if strings.Join(got, "") != strings.Join(names, "") {
		t.Errorf("the pages have %q, want %q", got, names)
	}
}

// Without locks the server says how to get them; a place that fails takes nothing else
// along.
func TestWithoutLocks(t *testing.T) {
	r := serve(t, server.Options{})
	wantProblem(t, r.get(t, "/v1/locks"), 503, "start it with --locks")
	if page := r.get(t, "/", "Accept", "text/html").body; strings.Contains(page, `href="/locks"`) {
		t.Error("the page leads to locks that it does not have")
	}
	r = serve(t, server.Options{OpenLocks: func(context.Context) (lock.Locker, error) { return nil, errors.New("secret address") }})
	got := r.get(t, "/v1/locks")
	wantProblem(t, got, 503, "does not answer")
	if n := metric(t, r, "oid_locks_held"); !math.IsNaN(n) {
		t.Errorf("oid_locks_held %v although the backend does not answer, want NaN", n)
	}
	if strings.Contains(got.body, "secret") {
		t.Errorf("the client is told %s", got.body)
	}
	if got := r.get(t, "/", "Accept", "text/html"); got.status != 200 {
		t.Errorf("the start page: %d", got.status)
	}
}
