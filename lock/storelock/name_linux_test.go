package storelock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/store/pgstore"
)

// When one name leads to a new primary, and the old one stays read-only with its connections,
// the holder keeps the lock, and a waiter gets it when it is released. Neither waits for the TTL,
// and the old primary cannot tell the waiter of the release.
func TestNameOfANewPrimary(t *testing.T) {
	t.Parallel()
	const ttl = 12 * time.Second
	primary := testenv.Postgres(t)
	standby := primary.Standby()
	name := testenv.NewName(t, primary.Addr)
	locker := func() *storelock.Locker {
		s, err := pgstore.Open(t.Context(), strings.Replace(primary.URL(), primary.Addr, name.Addr, 1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		l, err := storelock.New(s, &storelock.Options{TTL: ttl})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	holder, waiter := locker(), locker()
	lease, err := holder.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		lease *lock.Lease
		err   error
	}
	got := make(chan result, 1)
	go func() {
		lease, err := waiter.Acquire(t.Context(), "job", nil)
		got <- result{lease, err}
	}()
	testenv.Await(t, "waiter", func() error {
		return primary.Try(`SELECT 1 / count(*) FROM oid.locks WHERE position('queue' in encode(doc, 'escape')) > 0`)
	})
	time.Sleep(time.Second)
	primary.Exec("ALTER SYSTEM SET default_transaction_read_only = on")
	primary.Exec("SELECT pg_reload_conf()")
	standby.Promote()
	testenv.Await(t, "promotion", func() error { return standby.Try("CREATE TABLE IF NOT EXISTS promoted ()") })
	name.Move(standby.Addr)
	time.Sleep(ttl / 2) // a renewal
	if err := lease.Check(); err != nil {
		t.Fatalf("the lease: %v", err)
	}
	began := time.Now()
	if err := lease.Release(); err != nil {
		t.Fatalf("Release: %v", err)
	}
	r := <-got
	if r.err != nil || r.lease.Fence() <= lease.Fence() {
		t.Fatalf("the waiter got %+v", r)
	}
	took := time.Since(began)
	t.Logf("the waiter got the lock after %v", took)
	if took > 4*time.Second { // a pause takes up to 2 s
		t.Errorf("the waiter got the lock %v after it was released", took)
	}
	if err := r.lease.Release(); err != nil {
		t.Error(err)
	}
}
