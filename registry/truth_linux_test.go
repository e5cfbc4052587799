package registry_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// 20 processes come and go, some are killed, some restart at the same address,
// half of them with the same pid, which is 1 in a container. Each wrote down itself which ids it
// made, and every one of them is traced to it.
func TestTraceAgainstWhatProcessesWroteDown(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	file := filepath.Join(t.TempDir(), "registry.db")
	s := openStore(t, file)
	random := rand.New(rand.NewPCG(7, 9))
	const addresses, total = 5, 20
	contained := containers(t)
	var running, ended []*process
	atAddr := map[string]*process{}
	for i := range total {
		addr := fmt.Sprintf("127.0.0.1:%d", 9000+random.IntN(addresses))
		if p := atAddr[addr]; p != nil {
			p.make(50)
			if random.IntN(2) == 0 {
				p.leave("replaced by plan")
			} else {
				p.kill()
			}
			ended = append(ended, p)
		}
		p := start(t, file, addr, 2*time.Second, contained && i%2 == 0)
		p.join()
		p.make(50)
		atAddr[addr] = p
		if random.IntN(3) == 0 {
			time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
			p.make(10)
		}
	}
	for _, p := range atAddr {
		p.make(20)
		running = append(running, p)
	}
	r := registry.New(s, &registry.Options{OneHost: true})
	made, pid1, blocks := 0, map[gpid.GPID]bool{}, map[[4]byte]bool{}
	check := func(p *process, runs bool) {
		last := statusOf(t, r, p.gpid).Last.Time
		for _, id := range p.ids {
			// Nobody knows when a killed process died: its ids are certain up to its last heartbeat.
			certain := runs || !id.Time().After(last)
			tr := trace(t, r, id)
			if tr.Verdict != registry.Known || tr.Certain != certain || tr.Processes[0].GPID != p.gpid {
				t.Errorf("id %v of %v: %s, certain %v (%s), want %v", id, p.gpid, tr.Verdict, tr.Certain, tr.Reason, certain)
			}
			made++
			blocks[[4]byte(id[4:])] = true
		}
		// The same process value, a day off, is not its id.
		for _, off := range []int{-86400, 86400} {
			tr := trace(t, r, later(p.ids[0], off))
			if tr.Certain || off < 0 && tr.Verdict != registry.Conflict {
				t.Errorf("%v moved by %d s: %s, certain %v (%s)", p.ids[0], off, tr.Verdict, tr.Certain, tr.Reason)
			}
		}
		if p.gpid.PID() == 1 {
			pid1[p.gpid] = true
		}
	}
	for _, p := range running {
		check(p, true)
	}
	for _, p := range ended {
		check(p, false)
	}
	if len(running)+len(ended) != total || made < total*50 || contained && len(pid1) < total/2 {
		t.Errorf("the test is weaker than it says: %d processes, %d ids, %d with pid 1", len(running)+len(ended), made, len(pid1))
	}
	for _, p := range running {
		if st := statusOf(t, r, p.gpid); st.State != registry.Alive {
			t.Errorf("%v runs: %s (%s)", p.gpid, st.State, st.Reason)
		}
	}
	for _, p := range ended {
		if st := statusOf(t, r, p.gpid); st.State == registry.Alive || st.State == registry.Late {
			t.Errorf("%v has ended and was replaced: %s (%s)", p.gpid, st.State, st.Reason)
		}
	}
	for range 1000 {
		id := objectid.MinAt(time.Now())
		binary.BigEndian.PutUint64(id[4:], random.Uint64())
		if blocks[[4]byte(id[4:])] {
			continue // the blocks are random, too
		}
		if tr := trace(t, r, id); tr.Verdict != registry.Unknown {
			t.Errorf("random id %v: %s", id, tr.Verdict)
		}
	}
}

// A copy that is cut off from the store goes on with the block for hours, after the
// other copy found out and the process under that block is dead: its ids are known, and
// not certain.
func TestIdsOfACopyThatIsCutOff(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := join(t, elsewhere{s, earlierRun}, options{Interval: beat})
	old := m.Generator().New()
	twin := m.Clone()
	defer finish(t, twin)
	block := m.Process().Block
	eventually(t, "the copies part", func() bool { return m.Process().Block != block && twin.Process().Block != block })
	r := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	if tr := trace(t, r, later(old, 3600)); tr.Verdict != registry.Known || tr.Certain || !strings.Contains(tr.Reason, "copied") {
		t.Errorf("%s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
	}
}
