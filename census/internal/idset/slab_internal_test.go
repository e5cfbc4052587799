package idset

import "testing"

// TestSlabBeyondLimit takes pieces within a limit and beyond it, twice.
func TestSlabBeyondLimit(t *testing.T) {
	const piece = slabSize / RecordSize
	for limit, mapped := range map[int]int{0: 0, 3*piece + 1: 0, 2*piece + 1: 1, 2 * piece: 1, piece: 2, piece - 1: 3, 1: 3} {
		s := slab{limit: limit}
		for range 2 {
			for i := range 3 {
				segment := s.segment(piece)[:piece]
				segment[0], segment[piece-1] = Record{Hi: uint64(i)}, Record{Lo: 1}
			}
			s.reset()
		}
		if s.err != nil || len(s.unmap) != mapped || len(s.pieces) != 3 || s.pieces[1][0].Hi != 1 {
			t.Errorf("a limit of %d: %d of %d pieces in a file, want %d of 3, %v", limit, len(s.unmap), len(s.pieces), mapped, s.err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}
