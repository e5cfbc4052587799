package census

import (
	"testing"

	"github.com/oidkit/oid/objectid"
)

// extentOf returns records of a process value with the given seconds and counters, which
// are in order.
func extentOf(ids ...[2]uint32) extent {
	l := &records{shift: smallSegments}
	for place, id := range ids {
		r := objectid.ID{4: 0xA1, 8: 0xE5, 9: byte(id[1] >> 16), 10: byte(id[1] >> 8), 11: byte(id[1])}
		s := id[0] + 1_000_000
		r[0], r[1], r[2], r[3] = byte(s>>24), byte(s>>16), byte(s>>8), byte(s)
		l.add(newRecord(&r, uint32(place)))
	}
	return extent{l, 0, l.len()}
}

// TestStretches holds which counters begin a new stretch.
func TestStretches(t *testing.T) {
	const q = 1 << 21
	for _, test := range []struct {
		name string
		ids  [][2]uint32
		want int
	}{
		{"the next counter", [][2]uint32{{0, 5}, {1, 6}}, 1},
		{"a wrap", [][2]uint32{{0, 1<<24 - 1}, {1, 0}}, 1},
		{"a wrap within a second", [][2]uint32{{0, 0}, {0, 1}, {0, 1<<24 - 2}, {0, 1<<24 - 1}}, 1},
		{"the widest step", [][2]uint32{{0, 5}, {9, 5 + 128}}, 1},
		{"a wider step", [][2]uint32{{0, 5}, {9, 5 + 129}}, 2},
		{"an overtaken thread of the first second", [][2]uint32{{0, 1 << 20}, {1, 1<<20 - 1<<16 + 1}}, 1},
		{"further behind", [][2]uint32{{0, 1 << 20}, {1, 1<<20 - 1<<16}}, 2},
		{"an overtaken thread", [][2]uint32{{0, 10}, {5, 20}, {6, 30}, {7, 21}}, 1},
		{"a second too late", [][2]uint32{{0, 10}, {5, 20}, {6, 30}, {7, 20}}, 2},
		{"as many as are followed", [][2]uint32{{0, 0}, {1, q}, {2, 2 * q}, {3, 3 * q}, {4, 4 * q}, {5, 5 * q}, {6, 6 * q}, {7, 7 * q}, {8, 1}}, 8},
		{"one more", [][2]uint32{{0, 0}, {1, q}, {2, 2 * q}, {3, 3 * q}, {4, 4 * q}, {5, 5 * q}, {6, 6 * q}, {7, 7 * q}, {8, 7*q + q/2}, {9, 1}}, 10},
	} {
		e := extentOf(test.ids...)
		ss, done := newStretches(e, 1)
		if len(ss.list) != test.want || done != e.j {
			t.Errorf("%s: %d stretches, want %d", test.name, len(ss.list), test.want)
		}
		for i, id := range test.ids {
			r := byTime(*e.list.at(i), 0xA1000000E5)
			if r.counter() != id[1] || r.second() != id[0]+1_000_000 || r.place() != uint32(i) || r.value() != 0xA1000000E5 {
				t.Errorf("%s: record %d changed: %x", test.name, i, r)
			}
		}
	}
}

// TestTooManyStretches judges a process whose counter is random all along.
func TestTooManyStretches(t *testing.T) {
	for n, want := range map[int]bool{maxStretches: true, maxStretches + 1: false} {
		var ids [][2]uint32
		for i := range n {
			ids = append(ids, [2]uint32{uint32(i / 2), uint32(i) * 9_999_991 % counterRange})
		}
		for i := 1; i < n; i += 2 { // in order within a second
			if ids[i-1][1] > ids[i][1] {
				ids[i-1][1], ids[i][1] = ids[i][1], ids[i-1][1]
			}
		}
		e := extentOf(ids...)
		ss, done := newStretches(e, 1)
		if got := done == e.j; got != want {
			t.Errorf("%d ids: %d stretches, done %v, want %v", n, len(ss.list), got, want)
		}
	}
}

func TestStepLimit(t *testing.T) {
	for step, want := range map[int64]int64{1: 128, 10: 704, 16383: 1 << 20, 16384: 1 << 20} {
		if got := stepLimit(step); got != want {
			t.Errorf("typical step %d: limit %d, want %d", step, got, want)
		}
	}
}

func TestNeed(t *testing.T) {
	for n, want := range map[int64]int{0: 14, 1: 14, 4: 14, 5: 15, 8: 15, 9: 16, 1 << 20: 32} {
		if got := need(n); got != want {
			t.Errorf("%d process values with breaks: %d bits, want %d", n, got, want)
		}
	}
}
