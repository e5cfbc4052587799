package registry

import (
	"maps"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// memory is what a Registry remembers about processes between its calls.
type memory struct {
	mu      sync.Mutex
	watched map[objectid.ID]watch    // by member
	remotes map[MemberKey]remembered // by member
}

// watch is what a Registry has seen of the heartbeats of a process.
type watch struct {
	count int64     // of the latest heartbeat seen
	since time.Time // when it was first seen, with a monotonic reading
	moved bool      // an earlier heartbeat was seen before it

	looked time.Time // when the process was last looked at
}

// remembered is the living record of a remote process, as it was stored at a time.
type remembered struct {
	living bson.Raw
	at     time.Time
}

// watch notes the latest heartbeat of p and returns what was seen so far.
func (m *memory) watch(p *Process) watch {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, seen := m.watched[p.Member]
	if !seen || w.count != p.Last.Count {
		w = watch{count: p.Last.Count, since: time.Now(), moved: seen}
	}
	w.looked = time.Now()
	m.watched[p.Member] = w
	return w
}

// remember keeps the living record of a remote process. A nil raw forgets it.
func (m *memory) remember(k MemberKey, raw bson.Raw) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if raw == nil {
		delete(m.remotes, k)
		return
	}
	m.remotes[k] = remembered{raw, time.Now()}
}

// living returns the remembered living record of a remote process, or nil.
func (m *memory) living(k MemberKey) bson.Raw {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.remotes[k].living
}

// forget drops processes that were not looked at since a time, and living records that were
// not written since one hour before it.
func (m *memory) forget(since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.watched, func(_ objectid.ID, w watch) bool { return w.looked.Before(since) })
	maps.DeleteFunc(m.remotes, func(_ MemberKey, r remembered) bool { return r.at.Before(since.Add(-time.Hour)) })
}
