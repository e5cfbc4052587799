package registry_test

import (
	"crypto/md5"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// classicID is an id of now, as bson-ruby writes it on a host in a process.
func classicID(host string, pid int) objectid.ID {
	id := objectid.MinAt(time.Now())
	machine := md5.Sum([]byte(host))
	copy(id[4:], machine[:3])
	binary.BigEndian.PutUint16(id[7:], uint16(pid))
	id[11] = 1
	return id
}

// The caller of Adopt says that the process has created the sample, and nothing
// proves that: its ids are claimed, and the reason says what the sample shows.
func TestAdoptedIdsAreClaimed(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := sleeper(t)
	for name, c := range map[string]struct {
		id       objectid.ID
		layout   objectid.Layout
		evidence registry.Evidence
		reason   string
	}{
		"any driver":         {sample(t), objectid.Modern, registry.ByTime, "nothing in it names the process"},
		"java 2.x":           {sample(t), objectid.Java, registry.ByTime, "nothing in it names the process"},
		"host and pid":       {classicID(host, pid), objectid.Modern, registry.ByHostAndPID, "which contains host " + host + " and pid "},
		"classic, with host": {classicID(host, pid), objectid.Classic, registry.ByHostAndPID, "which contains host " + host + " and pid "},
		"java 3.x":           {classicID("another name", pid), objectid.Classic, registry.ByPID, "which contains pid "},
	} {
		s := newStore(t)
		m, err := adopt(t.Context(), s, c.id, options{PID: pid, Layout: c.layout})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := m.Process().Adopted; len(got) != 1 || got[0].Evidence != c.evidence || got[0].EvidenceID != c.id {
			t.Errorf("%s: adopted %+v, want %s", name, got, c.evidence)
		}
		tr := trace(t, registry.New(s, nil), later(c.id, 0))
		if tr.Verdict != registry.Claimed || tr.Certain || !strings.Contains(tr.Reason, c.reason) || tr.Adopted == nil || tr.Adopted.Evidence != c.evidence {
			t.Errorf("%s: %s, certain %v (%s), want claimed: %s", name, tr.Verdict, tr.Certain, tr.Reason, c.reason)
		}
		finish(t, m)
	}
}

// An id that names another process of this host is not a sample of this one.
func TestAdoptRefusesIdsOfOthers(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	pid, _ := sleeper(t)
	for name, c := range map[string]struct {
		id     objectid.ID
		layout objectid.Layout
		want   string
	}{
		"another process of this host":    {classicID(host, pid+1), objectid.Modern, "names host " + host + " and pid "},
		"the same, of the classic layout": {classicID(host, pid+1), objectid.Classic, "names host " + host + " and pid "},
		"a process with another pid":      {classicID("another name", pid+1), objectid.Classic, " names pid "},
		"an end of a range":               {objectid.MinAt(time.Now()), objectid.Modern, "is a bound of a time range"},
		"a good one, and one of another":  {classicID(host, pid+1), objectid.Modern, " and pid "},
	} {
		_, err := options{}.registry(s).Adopt(t.Context(), []objectid.ID{sample(t), c.id}, &registry.AdoptOptions{PID: pid, Layout: c.layout})
		if c.layout == objectid.Classic {
			_, err = adopt(t.Context(), s, c.id, options{PID: pid, Layout: c.layout})
		}
		if !errors.Is(err, registry.ErrEvidence) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ErrEvidence: %s", name, err, c.want)
		}
	}
	if _, err := (options{}).registry(s).Adopt(t.Context(), nil, &registry.AdoptOptions{PID: pid}); !errors.Is(err, registry.ErrEvidence) {
		t.Errorf("without a sample: %v, want ErrEvidence", err)
	}
	if n := len(all(t, registry.New(s, nil).All(t.Context(), registry.Query{}))); n != 0 {
		t.Errorf("%d processes are recorded, want none", n)
	}
}

// A process with two clients has two process values, and opens a third client later.
// All its ids are traced to it.
func TestSeveralValuesOfOneProcess(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	pid, kill := sleeper(t)
	other, _ := sleeper(t)
	first, second, third, fourth := sample(t), sample(t), sample(t), sample(t)
	o := options{PID: pid, Addr: "127.0.0.1:7", Interval: beat}
	m, err := o.registry(s).Adopt(t.Context(), []objectid.ID{first, second, later(first, 0)}, &registry.AdoptOptions{PID: pid, RegisterOptions: registry.RegisterOptions{Addr: o.Addr, Interval: beat}})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	if n := len(m.Process().Adopted); n != 2 {
		t.Errorf("three samples of two values are %d values", n)
	}
	if tr := trace(t, r, third); tr.Verdict != registry.Unknown {
		t.Errorf("an id of the third client before it is added: %s (%s)", tr.Verdict, tr.Reason)
	}
	if _, err := r.AddEvidence(t.Context(), m.Key(), []objectid.ID{third}, objectid.Modern); err != nil {
		t.Fatal(err)
	}
	// Another program adds one, and the member goes on.
	if _, err := registry.New(s, nil).AddEvidence(t.Context(), m.Key(), []objectid.ID{fourth}, objectid.Modern); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the member knows all values", func() bool { return len(m.Process().Adopted) == 4 })
	if err := m.Err(); err != nil {
		t.Errorf("the member says %v", err)
	}
	if got := statusOf(t, r, m.GPID()).Adopted; len(got) != 4 {
		t.Errorf("recorded values: %+v, want 4", got)
	}
	for i, id := range []objectid.ID{first, second, third, fourth} {
		tr := trace(t, r, later(id, 0))
		if tr.Verdict != registry.Claimed || tr.Processes[0].GPID != m.GPID() || tr.Adopted.EvidenceID != id {
			t.Errorf("id of client %d: %s (%s) %+v", i+1, tr.Verdict, tr.Reason, tr.Adopted)
		}
	}
	// Another process that claims the last value collides with this one.
	thief, err := adopt(t.Context(), s, later(fourth, 0), options{PID: other, Addr: "127.0.0.1:8", Interval: beat})
	var collision *registry.CollisionError
	if !errors.As(err, &collision) || collision.Others[0] != m.GPID() || collision.Value != valueText(fourth) {
		t.Errorf("another process with the last value: %v, want a collision with %v", err, m.GPID())
	}
	if thief != nil {
		finish(t, thief)
	}
	kill()
	<-m.Done()
	for i, id := range []objectid.ID{first, second, third, fourth} {
		if tr := trace(t, r, later(id, 60)); tr.Verdict != registry.Conflict {
			t.Errorf("id of client %d, a minute after the end: %s (%s), want conflict", i+1, tr.Verdict, tr.Reason)
		}
	}
	if _, err := r.AddEvidence(t.Context(), m.Key(), []objectid.ID{sample(t)}, objectid.Modern); !errors.Is(err, registry.ErrEnded) {
		t.Errorf("a sample of a process that has ended: %v, want ErrEnded", err)
	}
}

// A remote process may have sent an id before it ended, although this host sees that it has
// ended by now.
func TestEvidenceOfEnded(t *testing.T) {
	r := registry.New(newStore(t), nil)
	pid, kill := sleeper(t)
	shown, err := registry.Describe(&registry.AdoptOptions{PID: pid})
	if err != nil {
		t.Fatal(err)
	}
	o := registry.RemoteOptionsOf(&shown)
	p, err := r.AdoptRemote(t.Context(), shown.GPID, []objectid.ID{sample(t)}, objectid.Modern, &o)
	if err != nil {
		t.Fatal(err)
	}
	kill()
	id := sample(t)
	if _, err := r.AddEvidence(t.Context(), p.Key(), []objectid.ID{id}, objectid.Modern); err != nil {
		t.Error(err)
	}
	if tr := trace(t, r, id); tr.Verdict != registry.Claimed || tr.Processes[0].Member != p.Member {
		t.Errorf("%s: %s", tr.Verdict, tr.Reason)
	}
	if _, err := r.End(t.Context(), p.Key(), "ended", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.AddEvidence(t.Context(), p.Key(), []objectid.ID{sample(t)}, objectid.Modern); !errors.Is(err, registry.ErrEnded) {
		t.Errorf("an id after the end was recorded: %v", err)
	}
}

func valueText(id objectid.ID) string { return id.String()[8:18] }

// A program that registered may use a driver as well: ids of its block are known,
// those of the driver are claimed.
func TestMemberWithADriver(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	m := join(t, s, options{Interval: beat})
	if _, err := r.AddEvidence(t.Context(), m.Key(), []objectid.ID{objectid.New()}, objectid.Modern); err != nil {
		t.Fatal(err)
	}
	if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Known || !tr.Certain {
		t.Errorf("an id of its block: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
	}
	if tr := trace(t, r, objectid.New()); tr.Verdict != registry.Claimed || tr.Processes[0].GPID != m.GPID() {
		t.Errorf("an id of its driver: %s (%s)", tr.Verdict, tr.Reason)
	}
	// A sample of its own block adds nothing but a claim of what is known.
	if _, err := r.AddEvidence(t.Context(), m.Key(), []objectid.ID{m.Generator().New()}, objectid.Modern); err != nil {
		t.Errorf("a sample with its own block: %v", err)
	}
	if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Known || !tr.Certain {
		t.Errorf("an id of its block: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
	}
	if _, err := r.AddEvidence(t.Context(), m.Key(), nil, objectid.Modern); !errors.Is(err, registry.ErrEvidence) {
		t.Errorf("no sample: %v, want ErrEvidence", err)
	}
	// A claim that is lost is made again.
	if _, err := s.DeleteRange(t.Context(), "oid.values", store.Range{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both values are claimed again", func() bool {
		return trace(t, r, m.Generator().New()).Verdict == registry.Known && trace(t, r, objectid.New()).Verdict == registry.Claimed
	})
}

// The block of an adopted process is idle, but its samples are kept by it. If its
// claim is lost, it is made again before another process draws the block.
func TestIdleBlockIsClaimedAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	pid, _ := sleeper(t)
	m, err := adopt(t.Context(), s, sample(t), options{PID: pid, Interval: beat})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	block, err := store.StringKey(m.Process().Block)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "oid.values", block); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the block is claimed again", func() bool {
		_, err := s.Get(t.Context(), "oid.values", block)
		return err == nil
	})
	if err := m.Err(); err != nil {
		t.Error(err)
	}
}
