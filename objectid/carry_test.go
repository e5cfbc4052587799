package objectid

import (
	"math"
	"testing"
	"time"
)

// The ids of the last seconds of all are counted one by one.
func TestNothingIsMadeTwiceAtTheEnd(t *testing.T) {
	for _, layout := range []Layout{Modern, Classic, Java} {
		g, err := NewGenerator(&Options{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		g.New()
		const left = 1000
		g.now = func() time.Time { return time.Unix(math.MaxUint32, 0) }
		g.recheck.Store(0)
		g.state.Store(uint64(math.MaxUint32)<<g.bits | uint64(g.mask) - left)
		defer func(next uint32) { classicCounter.next = next }(classicCounter.next)
		classicCounter.next = (g.mask - left) & 0x00FFFFFF
		last := ID{}
		made := 0
		func() {
			defer func() {
				if err := recover(); err != ErrExhausted {
					t.Errorf("%v: panic with %v", layout, err)
				}
			}()
			for ; made <= left; made++ {
				id := g.New()
				if id.Compare(last) <= 0 {
					t.Fatalf("%v: %v after %v", layout, id, last)
				}
				last = id
			}
		}()
		if made != left {
			t.Errorf("%v: %d of the last %d ids were made", layout, made, left)
		}
		func() {
			defer func() { recover() }()
			g.Fill(make([]ID, 2))
			t.Errorf("%v: two ids were made of none", layout)
		}()
	}
}

// A wrap in the Modern layout carries into the fifth byte of the process value,
// and the next second sets it back.
func TestCarry(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	block := [4]byte{1, 2, 3, 4}
	g, err := NewGenerator(&Options{Block: &block, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	g.New()
	g.state.Store(uint64(now.Unix())<<32 | 0x00FFFFFF)
	for _, want := range []string{
		"6b49d2000102030400ffffff",
		"6b49d2000102030401000000",
		"6b49d2000102030401000001",
	} {
		if got := g.New().String(); got != want {
			t.Errorf("New() = %v, want %v", got, want)
		}
	}
	now = now.Add(time.Second)
	if got, want := g.New().String(), "6b49d2010102030400000002"; got != want {
		t.Errorf("in the next second New() = %v, want %v", got, want)
	}
	g.state.Store(uint64(now.Unix())<<32 | 0xFFFFFFFF)
	if id := g.New(); id.String() != "6b49d20101020304ffffffff" || g.Lead() != 0 {
		t.Errorf("the last id of a second is %v, Lead() = %v, want 0", id, g.Lead())
	}
	g.state.Store(uint64(now.Unix())<<32 | 0xFFFFFFFF)
	ids := make([]ID, 2)
	g.Fill(ids)
	if ids[0].String() != "6b49d20101020304ffffffff" || ids[1].String() != "6b49d2020102030400000000" || g.Lead() != time.Second {
		t.Errorf("at the end of the block Fill gave %v, Lead() = %v", ids, g.Lead())
	}
}
