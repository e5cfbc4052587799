package objectid

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Goroutines that create ids while the value changes see them increase, and none twice.
func TestReseedBetweenGoroutines(t *testing.T) {
	for _, layout := range []Layout{Modern, Java} {
		g, err := NewGenerator(&Options{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		const workers, each = 4, 200_000
		made := make([][]ID, workers)
		var wg sync.WaitGroup
		for w := range made {
			wg.Add(1)
			go func() {
				defer wg.Done()
				ids := make([]ID, each)
				for i := 0; i < each; i += 4 {
					g.Fill(ids[i : i+2])
					for j := i + 2; j < i+4; j++ {
						ids[j] = g.New()
					}
				}
				made[w] = ids
			}()
		}
		var done atomic.Bool
		go func() {
			for !done.Load() {
				g.Reseed()
				time.Sleep(time.Microsecond)
			}
		}()
		wg.Wait()
		done.Store(true)
		all := map[ID]bool{}
		for _, ids := range made {
			for i, id := range ids {
				if i > 0 && id.Compare(ids[i-1]) <= 0 {
					t.Fatalf("%v: %v after %v", layout, id, ids[i-1])
				}
				if all[id] {
					t.Fatalf("%v: %v twice", layout, id)
				}
				all[id] = true
			}
		}
	}
}

func TestMaxLead(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	glitch := time.Date(2087, 1, 1, 0, 0, 0, 0, time.UTC)
	block := [4]byte{1, 2, 3, 4}
	next, have := [4]byte{5, 6, 7, 8}, true
	for _, c := range []struct {
		name   string
		o      Options
		leads  bool
		values int
	}{
		{"not set", Options{}, true, 1},
		{"modern", Options{MaxLead: time.Minute}, false, 2},
		{"java", Options{MaxLead: time.Minute, Layout: Java}, false, 2},
		{"classic has no other value", Options{MaxLead: time.Minute, Layout: Classic}, true, 1},
		{"a block alone", Options{MaxLead: time.Minute, Block: &block}, true, 1},
		{"another block", Options{MaxLead: time.Minute, Block: &block, NewBlock: func() ([4]byte, bool) { return next, have }}, false, 2},
		{"no other block now", Options{MaxLead: time.Minute, Block: &block, NewBlock: func() ([4]byte, bool) { return next, false }}, true, 1},
	} {
		now := start
		c.o.Now = func() time.Time { return now }
		g, err := NewGenerator(&c.o)
		if err != nil {
			t.Fatal(err)
		}
		ids := []ID{g.New()}
		now = glitch
		ids = append(ids, g.New())
		for _, lead := range []time.Duration{time.Hour, time.Minute, 0} { // up to a minute the ids lead
			now = glitch.Add(-lead)
			ids = append(ids, g.New())
		}
		if last := ids[len(ids)-1]; c.leads && !last.Time().Equal(glitch) {
			t.Errorf("%s: %v", c.name, last.Time())
		}
		now = start.Add(time.Second)
		ids = append(ids, g.New(), g.New())
		got := ids[len(ids)-1].Time()
		if !c.leads && !got.Equal(now) || c.leads && !got.Equal(glitch) {
			t.Errorf("%s: after a reading of %v ids carry %v at %v", c.name, glitch, got, now)
		}
		values, seen := map[[4]byte]bool{}, map[ID]bool{}
		for _, id := range ids {
			values[[4]byte(id[4:])] = true
			if seen[id] {
				t.Errorf("%s: %v twice", c.name, id)
			}
			seen[id] = true
		}
		if (len(values) > 1) != (c.values > 1) {
			t.Errorf("%s: %d process values, want %d", c.name, len(values), c.values)
		}
	}
}

// Of the ids of a registered process, Reseed changes the block only to one that is the
// caller's.
func TestReseedOfABlock(t *testing.T) {
	block, other := [4]byte{1, 2, 3, 4}, [4]byte{9, 9, 9, 9}
	g, err := NewGenerator(&Options{Block: &block})
	if err != nil {
		t.Fatal(err)
	}
	if g.Reseed() || [4]byte(g.New().Bytes()[4:]) != block || g.Lead() != 0 {
		t.Error("Reseed changed a block without another")
	}
	g, err = NewGenerator(&Options{Block: &block, NewBlock: func() ([4]byte, bool) { return other, true }})
	if err != nil {
		t.Fatal(err)
	}
	before := g.New()
	if !g.Reseed() {
		t.Error("Reseed did not ask for a block")
	}
	if after := g.New(); [5]byte(after[4:]) != [5]byte{9, 9, 9, 9, 0} || after.Compare(before) <= 0 {
		t.Errorf("%v after %v, want the block 09090909", after, before)
	}
	if _, err := NewGenerator(&Options{NewBlock: func() ([4]byte, bool) { return other, true }}); err == nil {
		t.Error("NewBlock without Block")
	}
	classic, err := NewGenerator(&Options{Layout: Classic})
	if err != nil {
		t.Fatal(err)
	}
	if classic.Reseed() {
		t.Error("a Classic generator has another process value")
	}
}

// The whole process value stays the same in later seconds.
func TestReseedChangesTheFifthByte(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	g, err := NewGenerator(&Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	fifth := map[byte]bool{}
	for range 50 {
		g.Reseed()
		a := g.New()
		now = now.Add(time.Minute)
		if b := g.New(); [5]byte(a[4:]) != [5]byte(b[4:]) {
			t.Fatalf("%v, and in a later second %v", a, b)
		}
		fifth[a[8]] = true
	}
	if len(fifth) < 20 {
		t.Errorf("50 process values have %d fifth bytes", len(fifth))
	}
}

// At the end of time there is no later second.
func TestReseedAtTheEnd(t *testing.T) {
	now := time.Unix(1<<32-2, 0)
	g, err := NewGenerator(&Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	g.New()
	if !g.Reseed() {
		t.Error("no Reseed to the last second")
	}
	now = now.Add(time.Second)
	before := g.New()
	if g.Reseed() {
		t.Error("Reseed in the last second")
	}
	if after := g.New(); after.Compare(before) <= 0 || [5]byte(after[4:]) != [5]byte(before[4:]) {
		t.Errorf("%v after %v", after, before)
	}
}
