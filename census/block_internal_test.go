package census

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oidkit/oid/objectid"
)

func compareRecords(a, b record) int {
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
		after record
		bytes int
	}{
		{"the next id", recordOf(v, 1000, 501, 8), 2},
		{"again", recordOf(v, 1000, 500, 8), 2},
		{"the longest short step", recordOf(v, 1003, 531, 7+63), 2},
		{"a longer step", recordOf(v, 1003, 532, 8), 3},
		{"a later second", recordOf(v, 1004, 531, 8), 3},
		{"the longest medium step", recordOf(v, 1029, 500+1023, 8), 3},
		{"a longer one", recordOf(v, 1029, 500+1024, 8), 5},
		{"a second later", recordOf(v, 1030, 500+255, 8), 4},
		{"a place further on", recordOf(v, 1000, 501, 7+64), 3},
		{"a place before", recordOf(v, 1000, 501, 0), 2},
		{"one byte each", recordOf(v, 1255, 755, 8), 4},
		{"two bytes of steps", recordOf(v, 1255, 756, 8), 5},
		{"two bytes of seconds", recordOf(v, 1256, 755, 8), 5},
		{"two bytes each", recordOf(v, 1256, 756, 8), 6},
		{"the widest of two bytes each", recordOf(v, 1000+0xFFFF, 500+0xFFFF, 8), 6},
		{"three bytes of steps", recordOf(v, 1255, 500+0x10000, 8), 6},
		{"two and three", recordOf(v, 1256, 500+0x10000, 8), 7},
		{"four and three", recordOf(v, 1000+0x10000, 499, 8), 9},
		{"everything at its end", recordOf(v, 0xFFFFFFFF, 0xFFFFFF, placeMask), 1 + 4 + 3 + 5},
		{"the next process value", recordOf(v+1, 0, 0, 8), 1 + 1 + 4 + 3 + 1},
		{"the last process value", recordOf(highTail, 0, 0, 8), 1 + 6 + 4 + 3 + 1},
	} {
		first := recordOf(v, 1000, 500, 7)
		head := appendBlock(nil, []record{first})
		b := appendBlock(nil, []record{first, test.after})
		if len(b)-len(head) != test.bytes {
			t.Errorf("%s: %d bytes, want %d", test.name, len(b)-len(head), test.bytes)
		}
		if got, err := decodeBlock(nil, b, 2); err != nil || !slices.Equal(got, []record{first, test.after}) {
			t.Errorf("%s: %v, %v", test.name, got, err)
		}
		for cut := range b {
			if _, err := decodeBlock(nil, b[:cut], 2); !errors.Is(err, errBlock) {
				t.Errorf("%s, cut after %d bytes: %v", test.name, cut, err)
			}
		}
		if _, err := decodeBlock(nil, append(b, 0), 2); !errors.Is(err, errBlock) {
			t.Errorf("%s, with a byte more: %v", test.name, err)
		}
	}
	if _, err := decodeBlock(nil, nil, maxBlock+1); !errors.Is(err, errBlock) {
		t.Errorf("a block that is too large: %v", err)
	}
}

// FuzzBlock decodes anything, and encodes and decodes sorted records made of it.
func FuzzBlock(f *testing.F) {
	f.Add([]byte("\xff\x01\x00\x00\x00\x01\x00\x00\x01\x00\x00\x00"), uint16(2))
	f.Add(appendBlock(nil, []record{recordOf(1, 2, 3, 4), recordOf(1, 300, 3, 4), recordOf(9, 1, 1, 1)}), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, n uint16) {
		got, err := decodeBlock(nil, data, int(n))
		if err == nil && len(got) != int(n) || len(got) > len(data) {
			t.Errorf("%d ids of %d from %d bytes, %v", len(got), n, len(data), err)
		}
		var records []record
		random := rand.New(rand.NewPCG(uint64(n), uint64(len(data))))
		for chunk := range slices.Chunk(data, objectid.Size) {
			var id objectid.ID
			copy(id[:], chunk)
			records = append(records, newRecord(&id, random.Uint32()))
		}
		records = records[:min(len(records), maxBlock)]
		slices.SortFunc(records, compareRecords)
		again, err := decodeBlock(nil, appendBlock(nil, records), len(records))
		if err != nil || !slices.Equal(records, again) {
			t.Errorf("%d records became %d, %v", len(records), len(again), err)
		}
	})
}
