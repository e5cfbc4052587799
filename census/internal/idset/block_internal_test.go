package idset

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oidkit/oid/objectid"
)

func compareRecords(a, b Record) int {
	switch {
	case a.less(b):
		return -1
	case b.less(a):
		return 1
	}
	return 0
}

// TestBlock writes records of every distance and reads them again, and holds how many
// bytes they take.
func TestBlock(t *testing.T) {
	const v = 0x0102030405
	for _, test := range []struct {
		name  string
		after Record
		bytes int
	}{
		{"the next id", RecordOf(v, 1000, 501, 8), 2},
		{"again", RecordOf(v, 1000, 500, 8), 2},
		{"the longest short step", RecordOf(v, 1003, 531, 7+63), 2},
		{"a longer step", RecordOf(v, 1003, 532, 8), 3},
		{"a later second", RecordOf(v, 1004, 531, 8), 3},
		{"the longest medium step", RecordOf(v, 1029, 500+1023, 8), 3},
		{"a longer one", RecordOf(v, 1029, 500+1024, 8), 5},
		{"a second later", RecordOf(v, 1030, 500+255, 8), 4},
		{"a place further on", RecordOf(v, 1000, 501, 7+64), 3},
		{"a place before", RecordOf(v, 1000, 501, 0), 2},
		{"one byte each", RecordOf(v, 1255, 755, 8), 4},
		{"two bytes of steps", RecordOf(v, 1255, 756, 8), 5},
		{"two bytes of seconds", RecordOf(v, 1256, 755, 8), 5},
		{"two bytes each", RecordOf(v, 1256, 756, 8), 6},
		{"the widest of two bytes each", RecordOf(v, 1000+0xFFFF, 500+0xFFFF, 8), 6},
		{"three bytes of steps", RecordOf(v, 1255, 500+0x10000, 8), 6},
		{"two and three", RecordOf(v, 1256, 500+0x10000, 8), 7},
		{"four and three", RecordOf(v, 1000+0x10000, 499, 8), 9},
		{"everything at its end", RecordOf(v, 0xFFFFFFFF, 0xFFFFFF, placeMask), 1 + 4 + 3 + 5},
		{"the next process value", RecordOf(v+1, 0, 0, 8), 1 + 1 + 4 + 3 + 1},
		{"the last process value", RecordOf(HighTail, 0, 0, 8), 1 + 6 + 4 + 3 + 1},
	} {
		first := RecordOf(v, 1000, 500, 7)
		head := AppendBlock(nil, []Record{first})
		b := AppendBlock(nil, []Record{first, test.after})
		if len(b)-len(head) != test.bytes {
			t.Errorf("%s: %d bytes, want %d", test.name, len(b)-len(head), test.bytes)
		}
		if got, err := DecodeBlock(nil, b, 2); err != nil || !slices.Equal(got, []Record{first, test.after}) {
			t.Errorf("%s: %v, %v", test.name, got, err)
		}
		for cut := range b {
			if _, err := DecodeBlock(nil, b[:cut], 2); !errors.Is(err, errBlock) {
				t.Errorf("%s, cut after %d bytes: %v", test.name, cut, err)
			}
		}
		if _, err := DecodeBlock(nil, append(b, 0), 2); !errors.Is(err, errBlock) {
			t.Errorf("%s, with a byte more: %v", test.name, err)
		}
	}
	if _, err := DecodeBlock(nil, nil, MaxBlock+1); !errors.Is(err, errBlock) {
		t.Errorf("a block that is too large: %v", err)
	}
}

// FuzzBlock decodes anything, and encodes and decodes sorted records made of it.
func FuzzBlock(f *testing.F) {
	f.Add([]byte("\xff\x01\x00\x00\x00\x01\x00\x00\x01\x00\x00\x00"), uint16(2))
	f.Add(AppendBlock(nil, []Record{RecordOf(1, 2, 3, 4), RecordOf(1, 300, 3, 4), RecordOf(9, 1, 1, 1)}), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, n uint16) {
		got, err := DecodeBlock(nil, data, int(n))
		if err == nil && len(got) != int(n) || len(got) > len(data) {
			t.Errorf("%d ids of %d from %d bytes, %v", len(got), n, len(data), err)
		}
		var records []Record
		random := rand.New(rand.NewPCG(uint64(n), uint64(len(data))))
		for chunk := range slices.Chunk(data, objectid.Size) {
			var id objectid.ID
			copy(id[:], chunk)
			records = append(records, NewRecord(&id, random.Uint32()))
		}
		records = records[:min(len(records), MaxBlock)]
		slices.SortFunc(records, compareRecords)
		again, err := DecodeBlock(nil, AppendBlock(nil, records), len(records))
		if err != nil || !slices.Equal(records, again) {
			t.Errorf("%d records became %d, %v", len(records), len(again), err)
		}
	})
}
