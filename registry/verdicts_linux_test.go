package registry_test

import (
	"errors"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// verdictRow is a row of the tables of docs/explanation/guarantees.md.
type verdictRow struct{ name, verdict, evidence, reason string }

// verdictRows reads the tables of verdicts from a page.
func verdictRows(t *testing.T, page string) (rows []verdictRow) {
	t.Helper()
	text, err := os.ReadFile("../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) < 3 {
			continue
		}
		if kind, _, _ := strings.Cut(cells[1], ","); !slices.Contains(registry.Verdicts(), registry.Verdict(kind)) {
			continue
		}
		row := verdictRow{name: cells[0], verdict: cells[1], evidence: cells[2]}
		if len(cells) == 4 {
			row.reason = cells[3]
		}
		if row.evidence == "" {
			t.Errorf("%s: no evidence for %q", page, row.name)
		}
		rows = append(rows, row)
	}
	return rows
}

// shape is a reason without what differs in each run.
func shape(reason string) string {
	for _, what := range []struct{ pattern, name string }{
		{`\d{4}-\d\d-\d\dT[\d:]+Z`, "TIME"},
		{`[\d.]+:\d+:\d{16}:\d+(/[0-9a-f]{8})?`, "PROCESS"},
		{`\b[0-9a-f]{24}\b`, "ID"},
		{`\b(\d+h)?(\d+m)?\d+s\b`, "DURATION"},
		{`machine [0-9a-f]{6}`, "machine M"},
		{`process \d+`, "process N"},
	} {
		reason = regexp.MustCompile(what.pattern).ReplaceAllString(reason, what.name)
	}
	return reason
}

// Each row of the page is a case that comes about here and is traced.
func TestVerdictsOfThePage(t *testing.T) {
	t.Parallel()
	rows := verdictRows(t, "explanation/guarantees.md")
	if len(rows) != len(verdictCases) {
		t.Errorf("%d rows, and %d cases here", len(rows), len(verdictCases))
	}
	chinese := verdictRows(t, "zh-CN/guarantees.md")
	if len(chinese) != len(rows) {
		t.Fatalf("%d rows in Chinese, want %d", len(chinese), len(rows))
	}
	for i, row := range rows {
		if chinese[i].verdict != row.verdict || chinese[i].reason != row.reason {
			t.Errorf("in Chinese: %+v, want the verdict and the reason of %q", chinese[i], row.name)
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			of := verdictCases[row.name]
			if of == nil {
				t.Fatal("there is no such case here")
			}
			tr := of(t)
			verdict := string(tr.Verdict)
			if tr.Certain {
				verdict += ", certain"
			}
			if tr.Certain { // the page has this reason once
				row.reason = "the process had its process value at that time"
			}
			if verdict != row.verdict || row.reason != "" && shape(tr.Reason) != shape(row.reason) {
				t.Errorf("%s (%s), want %s (%s)", verdict, tr.Reason, row.verdict, row.reason)
			}
		})
	}
}

// inTime runs do in simulated time with a process of another host that has an id.
func inTime(clock bool, do func(t *testing.T, r *registry.Registry, p registry.Process) registry.Trace) func(*testing.T) registry.Trace {
	return func(t *testing.T) (tr registry.Trace) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(remoteStart.Add(time.Minute))) // simulated time begins in 2000
			s := newStore(t)
			defer s.Close()
			r := registry.New(s, nil)
			o := &registry.RemoteOptions{Interval: 10 * time.Second}
			if clock {
				o.Clock = time.Now()
			}
			p, err := r.RegisterRemote(t.Context(), remote(t, 7), o)
			if err != nil {
				t.Fatal(err)
			}
			tr = do(t, r, p)
		})
		return tr
	}
}

// watched looks at a process for a time.
func watched(t *testing.T, r *registry.Registry, p registry.Process, d time.Duration) {
	t.Helper()
	for range d / (10 * time.Second) {
		statusOf(t, r, p.GPID)
		time.Sleep(10 * time.Second)
	}
}

// nextSecond waits until ids have a later second.
func nextSecond() { time.Sleep(1100 * time.Millisecond) }

// heard starts a process and waits until a heartbeat after its id was stored.
func heard(t *testing.T, addr string, container bool, args ...string) (*process, *registry.Registry) {
	t.Helper()
	file := t.TempDir() + "/registry.db"
	r := registry.New(openStore(t, file), nil)
	p := start(t, file, addr, 200*time.Millisecond, container, args...)
	p.join()
	p.make(1)
	eventually(t, "a heartbeat", func() bool { return !statusOf(t, r, p.gpid).Last.Time.Before(p.ids[0].Time()) })
	return p, r
}

// heardMember is heard for a member of this process.
func heardMember(t *testing.T, m *registry.Member) objectid.ID {
	t.Helper()
	id, count := m.Generator().New(), m.Process().Last.Count
	eventually(t, "a heartbeat", func() bool { return m.Process().Last.Count > count })
	return id
}

// gone lets a killed process be swept and its record be pruned.
func gone(t *testing.T, p *process, r *registry.Registry, prune bool) {
	t.Helper()
	p.kill()
	time.Sleep(700 * time.Millisecond)
	if done, err := r.Sweep(t.Context()); err != nil || done != 1 {
		t.Fatalf("Sweep = %+v, %v", done, err)
	}
	if !prune {
		return
	}
	if done, err := r.Prune(t.Context(), &registry.PruneOptions{Records: time.Millisecond}); err != nil || done.Records != 1 {
		t.Fatalf("Prune = %+v, %v", done, err)
	}
}

// refuses is a store that fails until told otherwise.
func refuses(f *faulty, what fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = func(int, string) fault { return what }
}

// together lets two processes of other hosts adopt one value.
func together(t *testing.T, r *registry.Registry) (of [2]registry.Process, id objectid.ID) {
	t.Helper()
	id = sample(t)
	for i := range of {
		var err error
		of[i], err = r.AdoptRemote(t.Context(), remote(t, 8+i), []objectid.ID{id}, objectid.Modern, &registry.RemoteOptions{Clock: time.Now()})
		if err != nil && !isCollision(err) {
			t.Fatal(err)
		}
	}
	return of, id
}

// now returns an id with the value of another one.
func now(id objectid.ID) objectid.ID { return later(id, int(time.Since(id.Time()).Seconds())) }

// verdictCases bring about the rows of the page.
var verdictCases = map[string]func(t *testing.T) registry.Trace{
	"up to the last heartbeat of its process": inTime(true, func(t *testing.T, r *registry.Registry, p registry.Process) registry.Trace {
		time.Sleep(5 * time.Second)
		id := idOf(t, p.Block)
		time.Sleep(5 * time.Second)
		if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{}, Clock: time.Now()}); err != nil {
			t.Fatal(err)
		}
		watched(t, r, p, time.Hour)
		return trace(t, r, id)
	}),
	"after the last heartbeat, and the process runs on this host": func(t *testing.T) registry.Trace {
		s := newStore(t)
		m := join(t, s, options{Interval: time.Hour})
		nextSecond()
		return trace(t, registry.New(s, nil), m.Generator().New())
	},
	"after the last heartbeat, and the process is alive on another host": inTime(true, func(t *testing.T, r *registry.Registry, p registry.Process) registry.Trace {
		time.Sleep(29 * time.Second)
		return trace(t, r, idOf(t, p.Block))
	}),
	"up to the end that the process recorded": func(t *testing.T) registry.Trace { return itEnds(t, 0) },
	"up to the last heartbeat of a process that was killed, with a clock that was ahead": func(t *testing.T) registry.Trace {
		p, r := heard(t, "", false, "-ahead", "10m")
		p.kill()
		return trace(t, r, p.ids[0])
	},
	"after the last heartbeat of a process that was killed": func(t *testing.T) registry.Trace {
		file := t.TempDir() + "/registry.db"
		p := start(t, file, "", time.Hour, false)
		p.join()
		nextSecond()
		p.make(1)
		p.kill()
		return trace(t, registry.New(openStore(t, file), nil), p.ids[0])
	},
	"after the last heartbeat of a process that is presumed dead": inTime(true, func(t *testing.T, r *registry.Registry, p registry.Process) registry.Trace {
		watched(t, r, p, time.Hour)
		return trace(t, r, idOf(t, p.Block))
	}),
	"after the last heartbeat of a process that is late": inTime(true, func(t *testing.T, r *registry.Registry, p registry.Process) registry.Trace {
		time.Sleep(150 * time.Second)
		return trace(t, r, idOf(t, p.Block))
	}),
	"over three intervals in the future of a process that is alive": func(t *testing.T) registry.Trace {
		s := newStore(t)
		return trace(t, registry.New(s, nil), later(join(t, s, options{}).Generator().New(), 24*60*60))
	},
	"after its process was copied": func(t *testing.T) registry.Trace {
		s := newStore(t)
		m := join(t, s, options{Interval: beat})
		old, block := m.Generator(), m.Process().Block
		twin := m.Clone()
		defer finish(t, twin)
		eventually(t, "the copies part", func() bool { return m.Process().Block != block && twin.Process().Block != block })
		return trace(t, registry.New(s, nil), old.New())
	},
	"before its process, which began without the store, was recorded": func(t *testing.T) registry.Trace {
		f := &faulty{Store: newStore(t), fail: func(int, string) fault { return refused }}
		m := join(t, f, options{Offline: true, Interval: beat})
		id := m.Generator().New()
		nextSecond()
		refuses(f, none)
		eventually(t, "it is recorded", func() bool { return m.Err() == nil })
		return trace(t, registry.New(f, nil), id)
	},
	"outside the life of a remote process that never said what its clock shows": inTime(false, func(t *testing.T, r *registry.Registry, p registry.Process) registry.Trace {
		return trace(t, r, later(idOf(t, p.Block), -3600))
	}),
	"by a process, when another one that had its value was presumed dead": func(t *testing.T) registry.Trace {
		s := newStore(t)
		r := registry.New(s, nil)
		first := join(t, elsewhere{s, otherBoot}, options{Random: strings.NewReader("same"), Interval: beat, Addr: "10.0.0.7:80"})
		if err := first.Detach(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "presumed dead", func() bool { return fate(statusOf(t, r, first.GPID())) == "presumed dead" })
		f := &faulty{Store: s, fail: func(int, string) fault { return refused }}
		second := join(t, f, options{Offline: true, Random: strings.NewReader("sameother"), Interval: beat, Addr: "10.0.0.8:80"})
		refuses(f, none)
		eventually(t, "it is recorded", func() bool { return second.Err() == nil })
		nextSecond()
		return trace(t, r, second.Generator().New())
	},
	"by a process that was adopted": func(t *testing.T) registry.Trace {
		s, id := newStore(t), sample(t)
		m, err := adopt(t.Context(), s, id, options{})
		if err != nil {
			t.Fatal(err)
		}
		defer finish(t, m)
		nextSecond() // the sample may be of the second before it was recorded
		now := objectid.MinAt(time.Now())
		copy(now[4:], id[4:])
		return trace(t, registry.New(s, nil), now)
	},
	"before the first known id of a process that ended before the agent saw it": func(t *testing.T) registry.Trace {
		r, id := registry.New(newStore(t), nil), sample(t)
		seen := testenv.Must(gpid.New(remote(t, 7).Addr(), time.Now().Add(-30*time.Second), 7))(t)
		if _, err := r.AdoptRemote(t.Context(), seen, []objectid.ID{later(id, -80)}, objectid.Modern, &registry.RemoteOptions{Clock: time.Now(), StartUnknown: true}); err != nil {
			t.Fatal(err)
		}
		return trace(t, r, later(id, -90))
	},
	"in the classic layout, by a recorded process that nobody adopted": func(t *testing.T) registry.Trace {
		r := registry.New(newStore(t), nil)
		onHost(t, r, "db1", 4711)
		return trace(t, r, classicID("db1", 4711))
	},
	"with a process value of nobody": func(t *testing.T) registry.Trace {
		return trace(t, registry.New(newStore(t), nil), objectid.New())
	},
	"with a block whose process was never recorded": func(t *testing.T) registry.Trace {
		s, p := newStore(t), remote(t, 7)
		claim := bson.D{{Key: "_id", Value: "01020304"}, {Key: "v", Value: 1}, {Key: "member", Value: objectid.New()}, {Key: "process", Value: p.String() + "/01020304"}}
		if _, err := s.Insert(t.Context(), "oid.values", claim); err != nil {
			t.Fatal(err)
		}
		return trace(t, registry.New(s, nil), idOf(t, "01020304"))
	},
	"before its process had its value":        func(t *testing.T) registry.Trace { return itEnds(t, -2) },
	"after the end that its process recorded": func(t *testing.T) registry.Trace { return itEnds(t, 2) },
	"after an exec replaced its process": func(t *testing.T) registry.Trace {
		p, r := heard(t, "127.0.0.1:9311", false)
		p.exec()
		p.join()
		return trace(t, r, later(p.ids[0], 60))
	},
	"after the kernel showed that its process was gone": func(t *testing.T) registry.Trace {
		p, r := heard(t, "", false)
		p.kill()
		return trace(t, r, later(p.ids[0], 60))
	},
	"after the same, and its record was pruned": func(t *testing.T) registry.Trace {
		p, r := heard(t, "", false)
		gone(t, p, r, true)
		return trace(t, r, later(p.ids[0], 60))
	},
	"while two processes were recorded with its value": inTime(true, func(t *testing.T, r *registry.Registry, _ registry.Process) registry.Trace {
		_, id := together(t, r)
		return trace(t, r, id)
	}),
	"over three intervals after the last heartbeats of two dead processes with its value": inTime(true, func(t *testing.T, r *registry.Registry, _ registry.Process) registry.Trace {
		of, id := together(t, r)
		for range 200 {
			watched(t, r, of[0], 10*time.Second)
			statusOf(t, r, of[1].GPID)
		}
		return trace(t, r, now(id))
	}),

	"it ends": func(t *testing.T) registry.Trace { return itEnds(t, 0) },
	"it is killed with kill -9": func(t *testing.T) registry.Trace {
		p, r := heard(t, "", false)
		p.kill()
		return trace(t, r, p.ids[0])
	},
	"it is stopped with SIGSTOP, and continues": func(t *testing.T) registry.Trace {
		p, r := heard(t, "", false)
		if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // five intervals
		tr := trace(t, r, p.ids[0])
		if st := statusOf(t, r, p.gpid); st.State != registry.Alive || !tr.Certain {
			t.Errorf("while it is stopped: %s, %s (%s)", st.State, tr.Verdict, tr.Reason)
		}
		if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		nextSecond()
		p.make(1)
		return trace(t, r, p.ids[1])
	},
	"it is replaced by exec": func(t *testing.T) registry.Trace {
		p, r := heard(t, "127.0.0.1:9312", false)
		p.exec()
		p.join()
		return trace(t, r, p.ids[0])
	},
	"its pid is used by another process": func(t *testing.T) registry.Trace {
		s := newStore(t)
		m := join(t, elsewhere{s, earlierRun}, options{Interval: beat})
		id := heardMember(t, m)
		if err := m.Detach(t.Context()); err != nil {
			t.Fatal(err)
		}
		return trace(t, registry.New(s, nil), id)
	},
	"it runs in a container, with pid 1": func(t *testing.T) registry.Trace {
		p, r := heard(t, "127.0.0.1:9313", containers(t))
		p.kill()
		return trace(t, r, p.ids[0])
	},
	"another process takes its address": func(t *testing.T) registry.Trace {
		p, r := heard(t, "127.0.0.1:9314", false)
		p.kill()
		q := start(t, p.cmd.Args[2], "127.0.0.1:9314", time.Hour, false)
		q.join()
		if st := statusOf(t, r, p.gpid); st.Successor != q.gpid || len(all(t, r.All(t.Context(), registry.Query{Addr: netip.MustParseAddrPort("127.0.0.1:9314")}))) != 2 {
			t.Errorf("the first: %s (%s)", st.State, st.Reason)
		}
		return trace(t, r, p.ids[0])
	},
	"its clock is set back and forth": func(t *testing.T) registry.Trace {
		s := newStore(t)
		var clock moved
		m := join(t, s, options{Interval: beat, Now: clock.Now})
		for _, off := range []time.Duration{-time.Hour, 2 * time.Hour} {
			clock.set(off)
			if tr := trace(t, registry.New(s, nil), heardMember(t, m)); !tr.Certain {
				t.Errorf("set by %v: %s (%s)", off, tr.Verdict, tr.Reason)
			}
		}
		clock.set(-2 * time.Hour)
		return trace(t, registry.New(s, nil), heardMember(t, m))
	},
	"the store is away for a time": func(t *testing.T) registry.Trace {
		f := &faulty{Store: newStore(t), fail: func(int, string) fault { return none }}
		m := join(t, elsewhere{f, otherBoot}, options{Interval: beat})
		refuses(f, refused)
		eventually(t, "it fails", func() bool { return errors.Is(m.Err(), errStore) })
		nextSecond()
		id := m.Generator().New()
		refuses(f, none)
		eventually(t, "a heartbeat", func() bool { return m.Err() == nil })
		return trace(t, registry.New(f, nil), id)
	},
	"its claim is lost while it lives, as with an old backup": func(t *testing.T) registry.Trace {
		s := newStore(t)
		r := registry.New(s, nil)
		m := join(t, s, options{Interval: beat})
		id := heardMember(t, m)
		nextSecond()
		k, err := store.StringKey(m.Process().Block)
		if err == nil {
			err = s.Delete(t.Context(), "oid.values", k)
		}
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "it claims again", func() bool { return trace(t, r, id).Verdict == registry.Known })
		return trace(t, r, id)
	},
	"a sweep moves it to the ended": func(t *testing.T) registry.Trace {
		p, r := heard(t, "", false)
		gone(t, p, r, false)
		return trace(t, r, p.ids[0])
	},
	"its record is pruned": func(t *testing.T) registry.Trace {
		p, r := heard(t, "", false)
		gone(t, p, r, true)
		return trace(t, r, p.ids[0])
	},
}

// itEnds traces the id of a process that has ended, or one from some seconds before the
// process registered or after its end.
func itEnds(t *testing.T, seconds int) registry.Trace {
	t.Helper()
	s := newStore(t)
	r := registry.New(s, nil)
	m := join(t, s, options{})
	id := m.Generator().New()
	finish(t, m)
	at, life, by := id.Time(), statusOf(t, r, m.GPID()), time.Duration(seconds)*time.Second
	if seconds < 0 {
		at = life.From.Add(by)
	} else if seconds > 0 {
		at = life.End.Time.Add(by)
	}
	moved := objectid.MinAt(at)
	copy(moved[4:], id[4:])
	return trace(t, r, moved)
}

// A process that was adopted again, after its agent had died, is one candidate and not
// two.
func TestAdoptedAgainIsOneCandidate(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	pid, _ := sleeper(t)
	id := sample(t)
	r := registry.New(s, nil)
	o := options{PID: pid, Interval: time.Second}
	first, err := adopt(t.Context(), elsewhere{s, otherNamespace}, id, o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := adopt(t.Context(), elsewhere{s, otherNamespace}, id, o)
	if err != nil && !isCollision(err) { // of its namespace only the store is told
		t.Fatal(err)
	}
	defer finish(t, second)
	if err := first.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	nextSecond()
	created := now(id)
	eventually(t, "the first agent is presumed dead", func() bool {
		for st, err := range r.All(t.Context(), registry.Query{GPID: first.GPID()}) {
			if err == nil && st.Member == first.Process().Member {
				return fate(st) == "presumed dead"
			}
		}
		return false
	})
	if tr := trace(t, r, created); tr.Verdict != registry.Claimed || len(tr.Processes) != 1 || tr.Processes[0].Member != second.Process().Member {
		t.Errorf("%s (%s), %d processes, want claimed by the one that is alive", tr.Verdict, tr.Reason, len(tr.Processes))
	}
}
