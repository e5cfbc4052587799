package registry_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// sleeper starts a process that runs, makes no ids and knows nothing of registries.
func sleeper(t *testing.T) (pid int, kill func()) {
	t.Helper()
	cmd := exec.Command("cat")
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	// Start does not wait for the end of its exec, which ends an adopted process.
	if _, err := io.WriteString(stdin, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	done := false
	kill = func() {
		if !done {
			done = true
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	t.Cleanup(kill)
	return cmd.Process.Pid, kill
}

func TestAdoptFollowsTheProcess(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	pid, kill := sleeper(t)
	id := sample(t)
	m, err := adopt(t.Context(), s, id, options{PID: pid, Addr: "127.0.0.1:7", Interval: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	if m.Generator() != nil {
		t.Error("an adopted process has a generator")
	}
	p := m.Process()
	if kernel, err := gpid.ProcessOf(pid); err != nil || p.Kernel != kernel || p.GPID.PID() != pid || p.Name != "cat" {
		t.Errorf("process = %+v, %v, want %+v", p, err, kernel)
	}
	eventually(t, "three samples", func() bool { return m.Process().Last.Count >= 3 })
	load := m.Process().Last.Load
	if load.RSS <= 0 || load.Threads != 1 || load.Files < 3 || load.Goroutines != registry.Unmeasured || load.Heap != registry.Unmeasured {
		t.Errorf("load = %+v, want that of sleep", load)
	}
	if tr := trace(t, r, id); tr.Verdict != registry.Claimed || tr.Processes[0].GPID != m.GPID() {
		t.Errorf("trace of the sample: %+v", tr)
	}
	if tr := trace(t, r, idWith(t, m.Process().Block)); tr.Verdict != registry.Unknown {
		t.Errorf("an id with the block that it makes no ids with: %+v", tr)
	}
	kill()
	select {
	case <-m.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the process was killed and the member goes on")
	}
	if err := m.Detach(t.Context()); !errors.Is(err, registry.ErrEnded) {
		t.Errorf("Detach after the end: %v, want ErrEnded", err)
	}
	st := statusOf(t, r, m.GPID())
	if st.State != registry.Ended || st.Reason != "process ended" || st.Last.Load.RSS <= 0 {
		t.Errorf("after the end: %s (%s), %+v, want the last load", st.State, st.Reason, st.Last.Load)
	}
	if tr := trace(t, r, later(id, 60)); tr.Verdict != registry.Conflict {
		t.Errorf("an id from a minute after its end: %+v", tr)
	}
}

func TestAdoptThisProcess(t *testing.T) {
	s := newStore(t)
	id := objectid.New()
	m, err := adopt(t.Context(), s, id, options{})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	tr := trace(t, registry.New(s, nil), objectid.New())
	if tr.Verdict != registry.Claimed || tr.Processes[0].Kernel.PID != os.Getpid() || tr.Before.Goroutines < 1 {
		t.Errorf("the next id of the driver: %+v", tr)
	}
}

// The times of a member whose clock is set back do not go back: each sample has a
// key of its own.
func TestSamplesOfAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var clock moved
	m, err := adopt(t.Context(), s, objectid.New(), options{Interval: beat, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		count := m.Process().Last.Count
		eventually(t, "two heartbeats", func() bool { return m.Process().Last.Count >= count+2 })
		clock.set(time.Duration(clock.by.Load()) - time.Hour)
	}
	finish(t, m)
	h := all(t, registry.New(s, nil).History(t.Context(), m.Key(), time.Time{}, time.Time{}))
	if int64(len(h)) != m.Process().Last.Count || !h[len(h)-1].Time.Equal(m.Process().Last.Time) {
		t.Errorf("%d samples, the last of %v, after %d heartbeats, the last of %v", len(h), h[len(h)-1].Time, m.Process().Last.Count, m.Process().Last.Time)
	}
}

func TestAdoptRefuses(t *testing.T) {
	s := newStore(t)
	pid, kill := sleeper(t)
	for name, id := range map[string]objectid.ID{
		"an hour old": later(sample(t), -3600), "in an hour": later(sample(t), 3600), "zero": {},
	} {
		if _, err := adopt(t.Context(), s, id, options{PID: pid}); !errors.Is(err, registry.ErrEvidence) {
			t.Errorf("%s: %v, want ErrEvidence", name, err)
		}
	}
	kill()
	if _, err := adopt(t.Context(), s, sample(t), options{PID: pid}); !errors.Is(err, gpid.ErrNoProcess) {
		t.Errorf("of a process that has ended: %v, want ErrNoProcess", err)
	}
}

// The second process to adopt a value is told at once, the first with its next
// heartbeat, and both are shown as a collision until one of them ends.
func TestTwoLiveProcessesWithOneValue(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	pid1, kill1 := sleeper(t)
	pid2, _ := sleeper(t)
	id := sample(t) // after the start of both, by whole seconds
	with := func(pid int, addr string) options {
		return options{PID: pid, Addr: addr, Interval: 200 * time.Millisecond}
	}
	first, err := adopt(t.Context(), s, id, with(pid1, "127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, first)
	second, err := adopt(t.Context(), s, later(id, 0), with(pid2, "127.0.0.1:2"))
	var collision *registry.CollisionError
	if !errors.As(err, &collision) || len(collision.Others) != 1 || collision.Others[0] != first.GPID() || second == nil {
		t.Fatalf("second Adopt: %v, %v, want a collision with %v and a member", second, err, first.GPID())
	}
	defer finish(t, second)
	eventually(t, "the first is told", func() bool { return errors.Is(first.Err(), registry.ErrCollision) })
	for _, st := range all(t, r.All(t.Context(), registry.Query{})) {
		if len(st.Rivals) != 1 || st.Rivals[0] == st.GPID {
			t.Errorf("%v has rivals %v", st.GPID, st.Rivals)
		}
	}
	if tr := trace(t, r, later(id, 0)); tr.Verdict != registry.Collision || len(tr.Processes) != 2 {
		t.Errorf("trace: %s with %d processes, want a collision of 2", tr.Verdict, len(tr.Processes))
	}
	again, err := adopt(t.Context(), s, id, with(pid2, "127.0.0.1:2"))
	if !errors.As(err, &collision) || len(collision.Others) != 1 {
		t.Errorf("adopted once more: %v, want a collision with the other process alone", err)
	}
	defer finish(t, again)
	kill1()
	eventually(t, "the second is alone", func() bool { return second.Err() == nil })
	// Long after the first one's end the id can be the second one's only.
	eventually(t, "new ids are known", func() bool {
		fresh := objectid.MinAt(time.Now())
		copy(fresh[4:], id[4:])
		tr := trace(t, r, fresh)
		return tr.Verdict == registry.Claimed && tr.Processes[0].GPID == second.GPID()
	})
}

// Of two that adopt one value at the same moment, at least one is told at once,
// and both before long.
func TestAdoptOneValueAtOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for range 5 {
		var wg sync.WaitGroup
		members := make([]*registry.Member, 2)
		errs := make([]error, 2)
		pids := make([]int, 2)
		for i := range pids {
			pids[i], _ = sleeper(t)
		}
		id := sample(t)
		for i := range members {
			wg.Go(func() {
				members[i], errs[i] = adopt(context.Background(), s, id, options{PID: pids[i], Interval: beat})
			})
		}
		wg.Wait()
		if !errors.Is(errs[0], registry.ErrCollision) && !errors.Is(errs[1], registry.ErrCollision) {
			t.Errorf("nobody is told: %v, %v", errs[0], errs[1])
		}
		for i, m := range members {
			if m == nil {
				t.Fatal(errs[i])
			}
			defer finish(t, m)
			eventually(t, "both are told", func() bool { return errors.Is(m.Err(), registry.ErrCollision) })
		}
	}
}

// A driver may have the same value after a restart: the time tells the runs apart.
func TestOneValueInSuccession(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	id := sample(t)
	var runs []gpid.GPID
	var ids []objectid.ID
	for range 3 {
		pid, kill := sleeper(t)
		made := objectid.MinAt(time.Now())
		copy(made[4:], id[4:])
		m, err := adopt(t.Context(), s, made, options{PID: pid, Addr: "127.0.0.1:5", Interval: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond) // ids know whole seconds, and boots whole seconds too
		now := objectid.MinAt(time.Now())
		copy(now[4:], id[4:])
		runs, ids = append(runs, m.GPID()), append(ids, now)
		kill()
		<-m.Done()
		time.Sleep(2100 * time.Millisecond)
	}
	for i := range ids {
		if tr := trace(t, r, ids[i]); tr.Verdict != registry.Claimed || tr.Processes[0].GPID != runs[i] {
			t.Errorf("id of run %d: %+v, want claimed, %v", i, tr, runs[i])
		}
	}
}

func TestJavaHasFourBytesOfValue(t *testing.T) {
	s := newStore(t)
	g, err := objectid.NewGenerator(&objectid.Options{Layout: objectid.Java})
	if err != nil {
		t.Fatal(err)
	}
	id := g.New()
	m, err := adopt(t.Context(), s, id, options{Layout: objectid.Java})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	other := g.New()
	other[8] ^= 0x40
	if tr := trace(t, registry.New(s, nil), other); tr.Verdict != registry.Claimed {
		t.Errorf("another upper byte of the counter: %+v, want claimed", tr)
	}
}

// Detach leaves the process to itself: on this host it is still seen to run.
func TestDetach(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	pid, kill := sleeper(t)
	m, err := adopt(t.Context(), s, sample(t), options{PID: pid})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := statusOf(t, r, m.GPID()); st.State != registry.Alive {
		t.Errorf("detached: %s (%s)", st.State, st.Reason)
	}
	kill()
	if st := statusOf(t, r, m.GPID()); fate(st) != "dead" {
		t.Errorf("killed: %s (%s)", st.State, st.Reason)
	}
}

// Detach, in the middle of a heartbeat that the store does not answer, sends the last
// one all the same.
func TestDetachDuringAHeartbeat(t *testing.T) {
	t.Parallel()
	var hang atomic.Bool
	waits := make(chan struct{})
	inner := newStore(t)
	f := &faulty{Store: inner, fail: func(int, string) fault {
		if hang.CompareAndSwap(true, false) {
			close(waits)
			return hangs
		}
		return none
	}}
	pid, _ := sleeper(t)
	m, err := adopt(t.Context(), f, sample(t), options{PID: pid, Interval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	hang.Store(true)
	<-waits
	cutOff := m.Process().Last.Count
	if err := m.Detach(t.Context()); err != nil {
		t.Errorf("Detach: %v", err)
	}
	if st := statusOf(t, registry.New(inner, nil), m.GPID()); st.Last.Count != cutOff+1 {
		t.Errorf("the last heartbeat stored is number %d, want %d", st.Last.Count, cutOff+1)
	}
}

// idWith returns an id of now in the block.
func idWith(t *testing.T, block string) objectid.ID {
	t.Helper()
	id := objectid.MinAt(time.Now()).String()
	return objectid.MustParse(id[:8] + block + id[16:])
}

// To forget one of two that held a value must not make the other the only candidate of
// what either may have made.
func TestPruneOfARival(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	pid1, kill1 := sleeper(t)
	pid2, _ := sleeper(t)
	id := sample(t)
	with := func(pid int, addr string) options {
		return options{PID: pid, Addr: addr, Interval: 200 * time.Millisecond}
	}
	first, err := adopt(t.Context(), s, id, with(pid1, "127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := adopt(t.Context(), s, id, with(pid2, "127.0.0.1:2"))
	if !errors.Is(err, registry.ErrCollision) {
		t.Fatalf("second Adopt: %v, want a collision", err)
	}
	defer finish(t, second)
	kill1()
	<-first.Done()
	time.Sleep(1100 * time.Millisecond) // so that the first is older than what is kept
	r := registry.New(s, nil)
	if done, err := r.Prune(t.Context(), &registry.PruneOptions{Records: time.Second}); err != nil || done.Records != 1 {
		t.Fatalf("Prune = %+v, %v, want the record of the first gone", done, err)
	}
	if tr := trace(t, r, id); tr.Certain {
		t.Errorf("trace after the prune: %s, certain (%s)", tr.Verdict, tr.Reason)
	}
}

// When an adopted process died that nobody told of is not known, and who began
// after it may draw its value, so no id after its last heartbeat is its own for
// certain.
func TestAdoptedAndDead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	pid, kill := sleeper(t)
	id := sample(t)
	var cut atomic.Bool
	f := &faulty{Store: s, fail: func(int, string) fault {
		if cut.Load() {
			return refused
		}
		return none
	}}
	m, err := adopt(t.Context(), f, id, options{PID: pid, Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	cut.Store(true)
	defer cut.Store(false)
	kill()
	time.Sleep(2 * time.Second)
	r := registry.New(s, nil)
	if st := statusOf(t, r, m.GPID()); fate(st) != "dead" {
		t.Fatalf("the process that was killed: %s (%s)", st.State, st.Reason)
	}
	if tr := trace(t, r, later(id, 1)); tr.Verdict != registry.Claimed || tr.Certain {
		t.Errorf("id after the last heartbeat: %s, certain: %v (%s), want claimed and not certain", tr.Verdict, tr.Certain, tr.Reason)
	}
}
