package census

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

// TestDiskFails counts more than there is room for in memory when the disk fails: what
// needs it says so, and does not go on with a part of the ids.
func TestDiskFails(t *testing.T) {
	var list bytes.Buffer
	ids := make([]objectid.ID, 150_000)
	objectid.Fill(ids)
	for _, id := range ids {
		list.WriteString(id.String() + "\n")
	}
	failing := func() *Census {
		c := New(&Options{Memory: 1})
		if err := c.Read(t.Context(), "all", bytes.NewReader(list.Bytes())); err != nil {
			t.Fatal(err)
		}
		if err := c.space.settle(); err != nil || c.space.disk == nil || c.space.inMemory > 0 { // as the first report does
			t.Fatalf("nothing was spilled: %v", err)
		}
		if err := c.space.disk.file.Close(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	says := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	c := failing()
	says("Read", "spill ids to disk: ", c.Read(t.Context(), "again", bytes.NewReader(list.Bytes())))
	_, err := failing().Report(nil)
	says("Report", "read spilled ids: ", err)
	_, err = Compare(failing(), New(nil), nil)
	says("Compare", "read spilled ids: ", err)
	_, err = Compare(New(nil), failing(), nil)
	says("Compare", "read spilled ids: ", err)
	says("Save", "read spilled ids: ", failing().Save(new(bytes.Buffer)))
}

// TestSavedIsSpilled reads a saved census of more ids than there is room for in memory.
func TestSavedIsSpilled(t *testing.T) {
	var list, saved bytes.Buffer
	for range inMemory(1) + 1 {
		list.WriteString(objectid.New().String() + "\n")
	}
	c := New(nil)
	if err := cmp.Or(c.Read(t.Context(), "all", &list), c.Save(&saved)); err != nil {
		t.Fatal(err)
	}
	c = New(&Options{Memory: 1})
	if err := c.Read(t.Context(), "saved", &saved); err != nil {
		t.Fatal(err)
	}
	if c.space.disk == nil || c.space.inMemory > c.space.room {
		t.Errorf("%d ids in memory, room for %d", c.space.inMemory, c.space.room)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestSlabBeyondLimit takes pieces within a limit and beyond it, twice.
func TestSlabBeyondLimit(t *testing.T) {
	const piece = slabSize / recordSize
	for limit, mapped := range map[int]int{0: 0, 3*piece + 1: 0, 2*piece + 1: 1, 2 * piece: 1, piece: 2, piece - 1: 3, 1: 3} {
		s := slab{limit: limit}
		for range 2 {
			for i := range 3 {
				segment := s.segment(piece)[:piece]
				segment[0], segment[piece-1] = record{hi: uint64(i)}, record{lo: 1}
			}
			s.reset()
		}
		if s.err != nil || len(s.unmap) != mapped || len(s.pieces) != 3 || s.pieces[1][0].hi != 1 {
			t.Errorf("a limit of %d: %d of %d pieces in a file, want %d of 3, %v", limit, len(s.unmap), len(s.pieces), mapped, s.err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}
