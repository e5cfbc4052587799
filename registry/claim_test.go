package registry_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/memstore"
)

// Members whose random sources hold few different blocks, in any order and with
// zeros, all get blocks of their own, as long as the source has a free one.
func TestPlantedCollisionsAreDrawnAgain(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := memstore.New()
		taken := map[string]bool{}
		for range rapid.IntRange(1, 6).Draw(rt, "members") {
			draws := rapid.SliceOfN(rapid.Uint32Range(0, 7), 1, 12).Draw(rt, "draws")
			var source bytes.Buffer
			free, wasted := "", 0
			for i, d := range draws {
				var b [4]byte
				binary.BigEndian.PutUint32(b[:], d)
				source.Write(b[:])
				text := hexOf(b)
				if free == "" && d != 0 && !taken[text] {
					free, wasted = text, i
				}
			}
			given := source.Len()
			m, err := register(t.Context(), s, options{Random: &source, Interval: time.Hour})
			if free == "" {
				if err == nil {
					rt.Fatalf("joined with %s though every block of %v was taken", m.Process().Block, draws)
				}
				continue
			}
			if err != nil {
				rt.Fatal(err)
			}
			if got := m.Process().Block; got != free || given-source.Len() != 4*(wasted+1) {
				rt.Fatalf("drew %v with %v taken: block %s after %d draws, want %s after %d", draws, taken, got, (given-source.Len())/4, free, wasted+1)
			}
			taken[free] = true
			if err := m.End(t.Context(), "done"); err != nil { // which frees nothing
				rt.Fatal(err)
			}
		}
	})
}

func hexOf(b [4]byte) string {
	const digits = "0123456789abcdef"
	var out []byte
	for _, c := range b {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}

// All members draw from the same short list at the same moment.
func TestCollisionsInARace(t *testing.T) {
	s := newStore(t)
	const n = 24
	var wg sync.WaitGroup
	members := make([]*registry.Member, n)
	for i := range n {
		wg.Go(func() {
			var source bytes.Buffer
			for b := range n {
				source.Write([]byte{1, 2, 3, byte(b)})
			}
			m, err := register(context.Background(), s, options{Random: &source})
			if err != nil {
				t.Error(err)
				return
			}
			members[i] = m
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, m := range members {
		if m == nil {
			continue
		}
		if b := m.Process().Block; seen[b] {
			t.Errorf("block %s twice", b)
		} else {
			seen[b] = true
		}
		finish(t, m)
	}
}

// A block in which somebody adopted a value is left alone, now and later.
func TestClaimAvoidsAdoptedValues(t *testing.T) {
	s := newStore(t)
	sample := objectid.New()
	a, err := adopt(t.Context(), s, sample, options{Addr: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, a)
	for range 2 {
		source := bytes.NewBuffer(append(bytes.Clone(sample[4:8]), 9, 9, 9, byte(time.Now().UnixNano())))
		m := join(t, s, options{Random: source})
		if got := m.Process().Block; got == hexOf([4]byte(sample[4:8])) {
			t.Errorf("claimed %s, in which %v was adopted", got, sample)
		}
	}
	if tr := trace(t, registry.New(s, nil), sample); tr.Verdict != registry.Claimed {
		t.Errorf("the adopted sample: %+v", tr)
	}
}

// A claim whose answer was lost is recognised as one's own, and not as taken.
func TestLostAnswerToAClaim(t *testing.T) {
	inner := newStore(t)
	s := &faulty{Store: inner, fail: func(call int, op string) fault {
		if op == "InsertMany oid.values" && call < 2 {
			return lostAnswer
		}
		return none
	}}
	m := join(t, s, options{Offline: true, Interval: 100 * time.Millisecond})
	id := m.Generator().New()
	r := registry.New(inner, nil)
	eventually(t, "registered", func() bool { return trace(t, r, id).Verdict == registry.Known && m.Err() == nil })
	if p := m.Process(); p.Value != p.Block {
		t.Errorf("value %s, block %s: its own claim was taken for another's", p.Value, p.Block)
	}
}

// The store fails while a block is given up because a value in it is adopted. The member does
// not use that block, and is complete with the next one.
func TestStoreFailsWhileABlockIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]fault{"refused": refused, "lost answer": lostAnswer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := newStore(t)
			r := registry.New(inner, nil)
			evidence := sample(t)
			if _, err := r.AdoptRemote(t.Context(), remote(t, 7), []objectid.ID{evidence}, objectid.Modern, nil); err != nil {
				t.Fatal(err)
			}
			s := &faulty{Store: inner, fail: func(_ int, op string) fault {
				if op == "Replace oid.values" {
					return kind
				}
				return none
			}}
			m := join(t, s, options{Offline: true, Interval: beat, Random: strings.NewReader(string(evidence[4:8]) + "free")})
			if got, want := m.Process().Block, hexOf([4]byte([]byte("free"))); got != want {
				t.Errorf("block %s, want %s: a value in the first block is adopted", got, want)
			}
			id := m.Generator().New()
			eventually(t, "registered", func() bool { return trace(t, r, id).Verdict == registry.Known && m.Err() == nil })
		})
	}
}

// A heartbeat whose answer was lost is recognised as one's own, and not as that of a copy.
func TestLostAnswerToAHeartbeat(t *testing.T) {
	inner := newStore(t)
	lost := 0
	s := &faulty{Store: inner, fail: func(_ int, op string) fault {
		if op == "SwapMany oid.living" && lost < 2 {
			lost++
			return lostAnswer
		}
		return none
	}}
	m := join(t, s, options{Interval: 100 * time.Millisecond})
	block := m.Process().Block
	r := registry.New(inner, nil)
	eventually(t, "four heartbeats", func() bool { return statusOf(t, r, m.GPID()).Last.Count > 4 && m.Err() == nil })
	if p := m.Process(); p.Block != block || !p.Copied.IsZero() {
		t.Errorf("block %s, copied %v, want %s still and no copy", p.Block, p.Copied, block)
	}
	finish(t, m)
}
