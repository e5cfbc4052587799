package registry_test

import (
	"database/sql"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
)

// place is a database that processes use, which can be taken away from them.
type place struct {
	url       string // for the processes
	store     store.Store
	cut, heal func()
}

// sqlitePlace is a file whose writers can be made to wait.
func sqlitePlace(t *testing.T) place {
	file := t.TempDir() + "/registry.db"
	s := openStore(t, file)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	do := func(statement string) func() {
		return func() {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	do("PRAGMA busy_timeout = 10000")()
	return place{file, s, do("BEGIN IMMEDIATE"), do("ROLLBACK")}
}

// postgresPlace is a PostgreSQL server whose processes can be cut off.
func postgresPlace(t *testing.T) place {
	own := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	s, err := pgstore.Open(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	theirs, err := url.Parse(own)
	if err != nil {
		t.Fatal(err)
	}
	cable := testenv.NewCable(t, theirs.Host)
	theirs.Host = cable.Addr
	return place{theirs.String(), s, func() { cable.Cut(true, true) }, func() { cable.Cut(false, false) }}
}

// told are the ids of a process after and up to its last heartbeat, as they are traced.
type told struct{ before, after int }

// check traces all ids of a process that died without an end: those up to its last
// heartbeat are certain, later ones known, and the reason says what is not known.
func (p *process) check(r *registry.Registry, when string) (n told) {
	p.t.Helper()
	for _, id := range p.ids {
		tr := trace(p.t, r, id)
		if len(tr.Processes) != 1 || tr.Verdict != registry.Known {
			p.t.Fatalf("%s: id of %v: %s (%s)", when, id.Time(), tr.Verdict, tr.Reason)
		}
		last := tr.Processes[0].Last.Time
		covered := !id.Time().After(last)
		said := strings.Contains(tr.Reason, "when it died is not known") || strings.Contains(tr.Reason, "presumed dead") || strings.Contains(tr.Reason, "that is late")
		if tr.Certain != covered || said == covered || strings.Contains(tr.Reason, "-") {
			p.t.Errorf("%s: id of %v, last heartbeat %v: certain %v (%s)", when, id.Time(), last, tr.Certain, tr.Reason)
		}
		if covered {
			n.before++
		} else {
			n.after++
		}
	}
	return n
}

// A process is killed while its store is away. The kernel shows that it died, and not
// when: its ids after its last heartbeat are known, and not certain; so they remain when
// a sweep has moved it and its record is pruned.
func TestKilledWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	contained := containers(t)
	for name, open := range map[string]func(*testing.T) place{"sqlite": sqlitePlace, "postgres": postgresPlace} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := open(t)
			var all []*process
			for i, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
				p := start(t, at.url, "", 300*time.Millisecond, contained && i == 2)
				p.join()
				p.make(1)
				all = append(all, p)
				defer p.signal(s)
			}
			time.Sleep(1200 * time.Millisecond) // ids carry whole seconds
			at.cut()
			for range 10 {
				for _, p := range all {
					p.make(1)
				}
				time.Sleep(300 * time.Millisecond)
			}
			all[0].kill()
			all[1].signal(syscall.SIGTERM)
			all[2].kill()
			at.heal()
			check := func(when string) {
				t.Helper()
				for i, p := range all {
					if n := p.check(registry.New(at.store, nil), when); n.before == 0 || n.after < 3 {
						t.Errorf("%s: process %d: %+v, the test is weaker than it says", when, i, n)
					}
				}
			}
			check("at once")
			time.Sleep(time.Second)
			if done, err := registry.New(at.store, nil).Sweep(t.Context()); err != nil || done < 2 {
				t.Fatalf("Sweep = %+v, %v", done, err)
			}
			check("after a sweep")
			if done, err := registry.New(at.store, nil).Prune(t.Context(), &registry.PruneOptions{Records: time.Millisecond}); err != nil || done.Records < 2 {
				t.Fatalf("Prune = %+v, %v", done, err)
			}
			check("after a prune")
			// Since the sweep it is proven that the first two are gone.
			for _, p := range all[:2] {
				if tr := trace(t, registry.New(at.store, nil), later(p.ids[0], 60)); tr.Verdict != registry.Conflict {
					t.Errorf("an id from a minute later: %s (%s), want conflict", tr.Verdict, tr.Reason)
				}
			}
		})
	}
}

// The clock of a process is ahead of that of its host, or its host's clock was set back
// while it ran, and it is killed: its ids are its own, whatever the clock shows by now.
func TestKilledWithAClockAhead(t *testing.T) {
	t.Parallel()
	s := t.TempDir() + "/registry.db"
	var all []*process
	for i := range 6 {
		interval := []time.Duration{300 * time.Millisecond, time.Hour}[i/3]
		p := start(t, s, "", interval, false, "-ahead", []string{"10m", "30s", "10m"}[i%3])
		p.join()
		all = append(all, p)
	}
	for i := range 10 {
		for _, p := range all {
			p.make(1)
		}
		if i == 6 {
			all[2].say("ahead 0s")
			all[5].say("ahead 0s")
		}
		time.Sleep(250 * time.Millisecond)
	}
	for _, p := range all {
		p.make(1)
		p.kill()
	}
	at := openStore(t, s)
	for i, p := range all {
		if n := p.check(registry.New(at, nil), "at once"); i < 3 && n.before < 5 || i >= 3 && n.after == 0 {
			t.Errorf("process %d: %+v, the test is weaker than it says", i, n)
		}
		if tr := trace(t, registry.New(at, nil), later(p.ids[10], 60)); tr.Verdict != registry.Conflict {
			t.Errorf("process %d: a minute after it was gone: %s (%s), want conflict", i, tr.Verdict, tr.Reason)
		}
	}
	done, err := registry.New(at, &registry.Options{Now: func() time.Time { return time.Now().Add(5 * time.Hour) }}).Sweep(t.Context())
	if err != nil || done != 6 {
		t.Fatalf("Sweep = %+v, %v", done, err)
	}
	for _, p := range all {
		p.check(registry.New(at, nil), "after a sweep")
	}
}

// A member is cut off from its store, alive, while a Registry of another host watches:
// its ids are known, and after its next heartbeat certain.
func TestCutOffWhileAnotherHostWatches(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*registry.Process){"host": otherBoot, "container": otherNamespace} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			f := &faulty{Store: elsewhere{s, change}, fail: func(int, string) fault { return none }}
			m := join(t, f, options{Interval: beat})
			r := registry.New(s, nil)
			statusOf(t, r, m.GPID())
			f.mu.Lock()
			f.fail = func(int, string) fault { return refused }
			f.mu.Unlock()
			var ids []objectid.ID
			for range 15 * beat / (100 * time.Millisecond) {
				statusOf(t, r, m.GPID())
				ids = append(ids, m.Generator().New())
				time.Sleep(beat)
			}
			ids = append(ids, m.Generator().New())
			if st := statusOf(t, r, m.GPID()); fate(st) != "presumed dead" {
				t.Errorf("%s (%s), want presumed dead", st.State, st.Reason)
			}
			if tr := trace(t, r, ids[len(ids)-1]); tr.Verdict != registry.Known || tr.Certain {
				t.Errorf("the last id: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
			}
			if tr := trace(t, r, later(ids[0], 3600)); tr.Verdict != registry.Known || tr.Certain {
				t.Errorf("an hour later: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
			}
			for _, id := range ids {
				if tr := trace(t, r, id); tr.Verdict != registry.Known {
					t.Errorf("while it is cut off: %s (%s)", tr.Verdict, tr.Reason)
				}
			}
			f.mu.Lock()
			f.fail = func(int, string) fault { return none }
			f.mu.Unlock()
			eventually(t, "all ids are certain", func() bool {
				for _, id := range ids {
					if tr := trace(t, r, id); !tr.Certain {
						return false
					}
				}
				return true
			})
		})
	}
}
