package registry_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// An agent passes on the heartbeats of all processes of a host, while some of them
// send their own over another Registry, and some end. Every heartbeat that was
// answered is recorded once, with its sample, and nothing follows an end.
func TestAgentOfAHost(t *testing.T) {
	s := newStore(t)
	agent, other := registry.New(s, nil), registry.New(s, nil)
	const n, rounds = 40, 20
	var all []registry.RemoteHeartbeat
	want := make([]int64, n)
	for i := range n {
		g := remote(t, 100+i)
		register := agent
		if i%2 == 1 { // so that the agent meets it for the first time with its heartbeat
			register = other
		}
		p, err := register.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Interval: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		want[i] = 1
		all = append(all, registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{RSS: 4096}, Clock: time.Now()})
	}
	random := rand.New(rand.NewPCG(4, 5))
	ended := map[int]bool{}
	for round := range rounds {
		var wg sync.WaitGroup
		for range 3 { // at the same time as the agent
			i := random.IntN(n)
			wg.Go(func() {
				if _, err := other.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: all[i].Member, Load: registry.Load{RSS: 8192}}); err == nil {
					want[i]++ // of different processes, or the test's race detector says so
				}
			})
			wg.Wait()
		}
		if round%4 == 3 {
			i := random.IntN(n)
			if _, err := other.End(t.Context(), all[i].Member, "done", 0); err == nil {
				ended[i] = true
				want[i]++
			}
		}
		for i, err := range agent.Heartbeats(t.Context(), all) {
			switch {
			case ended[i]:
				if !errors.Is(err, registry.ErrEnded) {
					t.Fatalf("round %d, process %d has ended: %v, want ErrEnded", round, i, err)
				}
			case err != nil:
				t.Fatalf("round %d, process %d: %v", round, i, err)
			default:
				want[i]++
			}
		}
	}
	for i := range all {
		st := statusOf(t, other, remote(t, 100+i))
		if (st.State == registry.Ended) != ended[i] || st.Last.Count != want[i] {
			t.Errorf("process %d: %s after %d heartbeats, want %d", i, st.State, st.Last.Count, want[i])
		}
		samples := want[i]
		if ended[i] {
			samples-- // the end has none
		}
		if h := drainAll(t, other, st.GPID); int64(len(h)) != samples {
			t.Errorf("process %d: %d samples, want %d", i, len(h), samples)
		}
	}
}

func drainAll(t *testing.T, r *registry.Registry, g gpid.GPID) []registry.Sample {
	t.Helper()
	return all(t, r.History(t.Context(), keyOf(t, r, g), time.Time{}, time.Time{}))
}

// Each heartbeat of a call has an answer of its own.
func TestHeartbeatsHaveTheirOwnErrors(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	m := join(t, s, options{})
	var keys [2]registry.MemberKey
	for i := range keys {
		p, err := r.RegisterRemote(t.Context(), remote(t, 1+i), nil)
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = p.Key()
	}
	a, b := keys[0], keys[1]
	errs := r.Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: a}, {Member: nobody}, {Member: m.Key()}, {Member: b}, {Member: a}})
	for i, want := range []error{nil, store.ErrNotFound, registry.ErrSelfManaged, nil, nil} {
		if !errors.Is(errs[i], want) {
			t.Errorf("heartbeat %d: %v, want %v", i, errs[i], want)
		}
	}
	if got := statusOf(t, r, remote(t, 1)).Last.Count; got != 3 {
		t.Errorf("twice in a call: %d heartbeats, want 3", got)
	}
	if errs := r.Heartbeats(t.Context(), nil); len(errs) != 0 {
		t.Errorf("of none: %v", errs)
	}
	f := &faulty{Store: s, fail: func(int, string) fault { return refused }}
	for _, err := range registry.New(f, nil).Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: a}, {Member: b}}) {
		if !errors.Is(err, errStore) {
			t.Errorf("the store is away: %v", err)
		}
	}
}

// The reply to a call is lost: the next one finds what was recorded.
func TestHeartbeatsWithLostReplies(t *testing.T) {
	s := newStore(t)
	fail := none
	f := &faulty{Store: s, fail: func(int, string) fault { return fail }}
	r := registry.New(f, nil)
	const n = 5
	var beats []registry.RemoteHeartbeat
	for i := range n {
		p, err := r.RegisterRemote(t.Context(), remote(t, 1+i), nil)
		if err != nil {
			t.Fatal(err)
		}
		beats = append(beats, registry.RemoteHeartbeat{Member: p.Key()})
	}
	for round := range 30 {
		fail = none
		if round%3 == 1 {
			fail = lostAnswer
		}
		for i, err := range r.Heartbeats(t.Context(), beats) {
			if (err == nil) != (fail == none) {
				t.Fatalf("round %d, heartbeat %d: %v", round, i, err)
			}
		}
	}
	for i := range beats {
		last := statusOf(t, r, remote(t, 1+i)).Last.Count
		if h := drainAll(t, r, remote(t, 1+i)); int64(len(h)) != last || last < 20 {
			t.Errorf("%d samples of %d heartbeats", len(h), last)
		}
	}
}

// The adopted processes of an agent are checked with fewer calls of the store than
// processes. What was lost of one is stored again, and a claim that cannot be read is an
// error of its process alone.
func TestHeartbeatsCheckManyAdopted(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f, calls := noting(s)
	r := registry.New(f, nil)
	const n = 40
	var beats []registry.RemoteHeartbeat
	var blocks []string
	for i := range n {
		g := remote(t, 1+i)
		got, err := r.AdoptRemote(t.Context(), g, []objectid.ID{sample(t)}, objectid.Modern, nil)
		if err != nil {
			t.Fatal(err)
		}
		beats, blocks = append(beats, registry.RemoteHeartbeat{Member: got.Key()}), append(blocks, got.Block)
	}
	round := func() (errs []error, ops []string) {
		calls()
		errs = make([]error, n)
		for range 6 { // each process stores a document of samples, and is checked
			for i, err := range r.Heartbeats(t.Context(), beats) {
				errs[i] = errors.Join(errs[i], err)
			}
		}
		return errs, calls()
	}
	round()
	errs, ops := round()
	if err := errors.Join(errs...); err != nil || len(ops) > 2*n { // 6 times 4
		t.Errorf("%d calls of the store: %q, %v", len(ops), ops, err)
	}

	lost, err := store.StringKey(blocks[7])
	if err != nil {
		t.Fatal(err)
	}
	damaged, err := store.StringKey(blocks[9])
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "oid.values", lost); err != nil {
		t.Fatal(err)
	}
	claim, err := s.Get(t.Context(), "oid.values", damaged)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Swap(t.Context(), "oid.values", claim, bson.D{{Key: "_id", Value: blocks[9]}, {Key: "v", Value: "two"}}); err != nil {
		t.Fatal(err)
	}
	confirmed := statusOf(t, r, remote(t, 1)).Confirmed
	errs, _ = round()
	for i, err := range errs {
		if (err != nil) != (i == 9) {
			t.Errorf("process %d: %v", i, err)
		}
	}
	if now := statusOf(t, r, remote(t, 1)).Confirmed; !now.Equal(confirmed) {
		t.Errorf("another process is confirmed from %v, want %v still", now, confirmed)
	}
	if _, err := s.Get(t.Context(), "oid.values", lost); err != nil {
		t.Errorf("claim of process 7: %v, want it stored again", err)
	}
}

// The agent's heartbeats put the samples of an hour in order when the hour has ended,
// wherever in an hour of the process they begin.
func TestHeartbeatsTrimSamples(t *testing.T) {
	for _, test := range []struct {
		before time.Duration // that an hour ends
		want   int64         // documents: one of each hour that has ended, registration's included
	}{{24 * time.Second, 3}, {50 * time.Second, 2}, {30 * time.Minute, 2}} {
		t.Run(test.before.String(), func(t *testing.T) {
			s := newStore(t)
			now := time.Now()
			agent := registry.New(s, &registry.Options{Now: func() time.Time { return now }})
			g := remote(t, 1)
			p, err := agent.RegisterRemote(t.Context(), g, nil)
			if err != nil {
				t.Fatal(err)
			}
			begin := registry.HourOf(p.Block, now).Add(2*time.Hour - test.before)
			send := func(after time.Duration) error {
				now = begin.Add(after)
				return agent.Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: p.Key()}})[0]
			}
			const beats = 48
			for i := range beats {
				if err := send(time.Duration(i) * time.Second); err != nil {
					t.Fatal(err)
				}
			}
			if err := send(time.Hour + time.Minute); err != nil {
				t.Fatal(err)
			}
			if n, err := s.Count(t.Context(), "oid.samples", store.Range{}); err != nil || n != test.want {
				t.Errorf("%d documents of samples, %v, want %d", n, err, test.want)
			}
			if h := drainAll(t, agent, g); len(h) != beats+2 {
				t.Errorf("%d samples, want %d", len(h), beats+2)
			}
			// The record is gone, as after a backup was restored: the process has to register again.
			if _, err := s.DeleteRange(t.Context(), "oid.processes", store.Range{}); err != nil {
				t.Fatal(err)
			}
			for hours := range 2 {
				if err := send(time.Duration(hours+2)*time.Hour + 2*time.Minute); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%d h after the record is gone: %v, want ErrNotFound", hours, err)
				}
			}
		})
	}
}

// Two processes with one value are told so by the agent's heartbeats, at the latest with
// the next document of samples.
func TestHeartbeatsTellOfCollisions(t *testing.T) {
	s := newStore(t)
	agent := registry.New(s, nil)
	id := sample(t)
	var beats []registry.RemoteHeartbeat
	for i := range 2 {
		p, err := agent.AdoptRemote(t.Context(), remote(t, 1+i), []objectid.ID{id}, objectid.Modern, nil)
		if err != nil && !isCollision(err) {
			t.Fatal(err)
		}
		beats = append(beats, registry.RemoteHeartbeat{Member: p.Key()})
	}
	told := [2]int{}
	for range 12 {
		for i, err := range agent.Heartbeats(t.Context(), beats) {
			if isCollision(err) {
				told[i]++
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if told[0] == 0 || told[1] == 0 {
		t.Errorf("told %d times in 12 heartbeats, want each once at least", told)
	}
}

// Heartbeats of one member in one call are recorded in their order, with any number.
func TestHeartbeatsOfOneMember(t *testing.T) {
	t.Parallel()
	r := registry.New(newStore(t), nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 10 {
		var beats []registry.RemoteHeartbeat
		for i := range 6 {
			beats = append(beats, registry.RemoteHeartbeat{
				Member: p.Key(), Load: registry.Load{CPU: time.Duration(10*round + i)}, Age: time.Duration(6-i) * time.Millisecond,
			})
		}
		if err := errors.Join(r.Heartbeats(t.Context(), beats)...); err != nil {
			t.Fatal(err)
		}
		recent := statusOf(t, r, p.GPID).Recent
		if !slices.IsSortedFunc(recent, func(a, b registry.Sample) int { return cmp.Compare(a.CPU, b.CPU) }) {
			t.Fatalf("call %d: %v", round, recent)
		}
	}
}
