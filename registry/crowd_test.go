package registry_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

const crowd = 200

// 200 processes join one SQLite file at the same moment.
func TestCrowdOfProcessesOnSQLite(t *testing.T) {
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
	for _, st := range all(t, registry.New(s, nil).List(t.Context())) {
		listed[st.Block] = st.State
	}
	for _, p := range processes {
		if listed[p.block] != registry.Alive {
			t.Errorf("process %v: listed as %q, want alive", p.gpid, listed[p.block])
		}
	}
}

// crowdJoins lets 200 members join a store at the same moment.
func crowdJoins(t *testing.T, s store.Store) {
	members := make([]*registry.Member, crowd)
	var wg sync.WaitGroup
	var ready sync.WaitGroup
	ready.Add(crowd)
	for i := range members {
		wg.Go(func() {
			ready.Done()
			ready.Wait()
			m, err := registry.Join(context.Background(), s, &registry.Options{Interval: time.Minute, Log: quiet})
			if err != nil {
				t.Error(err)
				return
			}
			members[i] = m
		})
	}
	wg.Wait()
	listed := map[string]bool{}
	for _, st := range all(t, registry.New(s, nil).List(t.Context())) {
		listed[st.Block] = true
	}
	if len(listed) != crowd {
		t.Errorf("%d different blocks are listed, want %d", len(listed), crowd)
	}
	for _, m := range members {
		if m == nil {
			continue
		}
		if !listed[m.Process().Block] {
			t.Errorf("block %s is not listed", m.Process().Block)
		}
		finish(t, m)
	}
}

func TestCrowdInOneProcess(t *testing.T) { crowdJoins(t, newStore(t)) }
