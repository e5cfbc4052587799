package registry_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// A virtual machine is copied while a process in it runs. Both copies are told with
// their next heartbeat and claim blocks of their own; what either created before
// that is traced with a word of caution, and what was created before the copy, or
// with the new blocks, without.
func TestCopiedProcess(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	const interval = 500 * time.Millisecond
	m := join(t, s, options{Interval: interval})
	early := m.Generator().New()
	old := m.Generator()
	time.Sleep(1100 * time.Millisecond) // ids carry whole seconds
	eventually(t, "a heartbeat", func() bool { return m.Process().Last.Time.After(early.Time().Add(time.Second)) })
	twin := m.Clone()
	defer finish(t, twin)
	block := m.Process().Block
	between := old.New()
	told := [2]bool{}
	eventually(t, "both are told and have new blocks", func() bool {
		for i, x := range []*registry.Member{m, twin} {
			told[i] = told[i] || errors.Is(x.Err(), registry.ErrCopied)
		}
		return told[0] && told[1] && m.Process().Block != block && twin.Process().Block != block
	})
	if a, b := m.Process(), twin.Process(); a.Block == b.Block || a.Member == b.Member {
		t.Errorf("the copies have blocks %s and %s, members %v and %v", a.Block, b.Block, a.Member, b.Member)
	}
	for _, id := range []objectid.ID{between, old.New()} {
		if tr := trace(t, r, id); tr.Verdict != registry.Known || tr.Certain {
			t.Errorf("an id of either: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
		}
	}
	if tr := trace(t, r, early); tr.Verdict != registry.Known || !tr.Certain {
		t.Errorf("an id from before the copy: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
	}
	for _, x := range []*registry.Member{m, twin} {
		eventually(t, "the copy is in order", func() bool { return x.Err() == nil })
		if tr := trace(t, r, x.Generator().New()); tr.Verdict != registry.Known || !tr.Certain || tr.Processes[0].Member != x.Process().Member {
			t.Errorf("an id with the new block: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
		}
	}
}

// A copy that is resumed later need not wait for its next heartbeat.
func TestCopyThatIsReseeded(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := join(t, s, options{Interval: time.Hour})
	block, last := m.Process().Block, m.Process().Last.Time
	twin := m.Clone()
	defer finish(t, twin)
	if m.Generator().Reseed() {
		t.Error("there is another block before a heartbeat")
	}
	eventually(t, "a heartbeat", func() bool { return m.Process().Last.Time.After(last) })
	twin.Reseed()
	eventually(t, "a block of its own, and a generator for it", func() bool {
		a, b := m.Generator().New(), twin.Generator().New()
		return twin.Process().Block != block && [4]byte(a[4:]) != [4]byte(b[4:])
	})
}

// The copies of a process that adopted another's ids cannot change the value. Their
// ids are known, and not certain.
func TestCopiedAdoption(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	m, err := adopt(t.Context(), s, objectid.New(), options{Interval: beat})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	block := m.Process().Block
	twin := m.Clone()
	defer finish(t, twin)
	eventually(t, "both have new blocks", func() bool { return m.Process().Block != block && twin.Process().Block != block })
	eventually(t, "new ids are known and not certain", func() bool {
		tr := trace(t, r, objectid.New())
		return tr.Verdict == registry.Claimed && !tr.Certain
	})
}

// The store fails after the first copy has noted that there are copies, before the
// other one can find out: that one is told with the next attempt.
func TestCopiesPartWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	var armed, noted, failed bool
	f := &faulty{Store: newStore(t), fail: func(_ int, op string) fault {
		switch {
		case armed && op == "SwapMany oid.processes":
			noted = true
		case noted && !failed && op == "Get oid.living":
			failed = true
			return refused
		}
		return none
	}}
	m := join(t, f, options{Interval: beat})
	block := m.Process().Block
	f.mu.Lock()
	armed = true
	f.mu.Unlock()
	twin := m.Clone()
	defer finish(t, twin)
	eventually(t, "both have new blocks", func() bool { return m.Process().Block != block && twin.Process().Block != block })
	f.mu.Lock()
	defer f.mu.Unlock()
	if !failed {
		t.Error("nothing failed")
	}
}

// lostClaim is a store that loses the answer to the first claim of a block.
type lostClaim struct {
	store.Store
	block string
	lost  atomic.Bool
}

func (l *lostClaim) InsertMany(ctx context.Context, c string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	keys, err := l.Store.InsertMany(ctx, c, docs, o)
	for _, doc := range docs {
		raw, _ := bson.Marshal(doc)
		if key, _ := bson.Raw(raw).Lookup("_id").StringValueOK(); err == nil && key == l.block && l.lost.CompareAndSwap(false, true) {
			return nil, errStore
		}
	}
	return keys, err
}

// A copy claims a new block in which a value is adopted, and the answer is lost. No id was
// created with that block, so the copy leaves it.
func TestLostAnswerToTheClaimOfACopy(t *testing.T) {
	t.Parallel()
	inner := newStore(t)
	evidence := sample(t)
	copy(evidence[4:8], "bbbb")
	if _, err := registry.New(inner, nil).AdoptRemote(t.Context(), remote(t, 7), []objectid.ID{evidence}, objectid.Modern, nil); err != nil {
		t.Fatal(err)
	}
	s := &lostClaim{Store: inner, block: hexOf([4]byte([]byte("bbbb")))}
	m := join(t, s, options{Interval: beat, Random: strings.NewReader("aaaa" + "bbbb" + "cccc")})
	twin := m.Clone()
	defer finish(t, twin)
	want := hexOf([4]byte([]byte("cccc")))
	eventually(t, "a generator for a new block", func() bool {
		id := m.Generator().New()
		return string(id[4:8]) != "aaaa" && m.Err() == nil
	})
	if p := m.Process(); !s.lost.Load() || p.Block != want || p.Value != want {
		t.Errorf("block %s, value %s, answer lost: %v; want block and value %s", p.Block, p.Value, s.lost.Load(), want)
	}
}
