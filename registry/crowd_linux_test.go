package registry_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

// crowd is smaller under the race detector, which slows down each member and none of
// the engine.
var crowd = testenv.Size(60, 200)

func init() {
	if testenv.UnderRace {
		crowd = 60
	}
}

// Many processes join one SQLite file at the same moment.
func TestCrowdOfProcessesOnSQLite(t *testing.T) {
	testenv.Long(t, "takes seconds")
	file := filepath.Join(t.TempDir(), "registry.db")
	s := openStore(t, file)
	processes := make([]*process, crowd)
	for i := range processes {
		processes[i] = start(t, file, "", time.Minute, false)
	}
	for _, p := range processes {
		p.say("join")
	}
	blocks := map[string]bool{}
	for _, p := range processes {
		p.joined()
		blocks[p.block] = true
	}
	if len(blocks) != crowd {
		t.Errorf("%d different blocks, want %d", len(blocks), crowd)
	}
	listed := map[string]registry.State{}
	for _, st := range all(t, registry.New(s, nil).All(t.Context(), registry.Query{})) {
		listed[st.Block] = st.State
	}
	for _, p := range processes {
		if listed[p.block] != registry.Alive {
			t.Errorf("process %v: listed as %q, want alive", p.gpid, listed[p.block])
		}
	}
}

// Many members join a store at the same moment, each over a connection of its own.
func crowdJoins(t *testing.T, open func() (store.Store, error)) {
	members := make([]*registry.Member, crowd)
	var wg, ready sync.WaitGroup
	ready.Add(crowd)
	for i := range members {
		wg.Go(func() {
			s, err := open()
			ready.Done()
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { s.Close() })
			ready.Wait()
			m, err := register(context.Background(), s, options{Interval: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			members[i] = m
		})
	}
	wg.Wait()
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	listed := map[string]bool{}
	for _, st := range all(t, registry.New(s, nil).All(t.Context(), registry.Query{})) {
		listed[st.Block] = true
	}
	r := registry.New(s, nil)
	blocks := map[string]bool{}
	for i, m := range members {
		if m == nil {
			continue
		}
		if i%10 == 0 {
			if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Known || tr.Processes[0].Member != m.Process().Member || tr.Before == nil {
				t.Errorf("trace: %+v, want member %v", tr, m.Process().Member)
			}
		}
		block := m.Process().Block
		if blocks[block] || !listed[block] {
			t.Errorf("block %s: twice %v, listed %v", block, blocks[block], listed[block])
		}
		blocks[block] = true
		finish(t, m)
	}
	if len(blocks) != crowd {
		t.Errorf("%d different blocks, want %d", len(blocks), crowd)
	}
}

func TestCrowdOnMongoDB(t *testing.T) {
	uri := testenv.MongoDB(t)
	crowdJoins(t, func() (store.Store, error) { return mongostore.Open(context.Background(), uri) })
}
