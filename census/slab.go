package census

import "unsafe"

// slab is memory from which segments are cut. It comes in large pieces, for which the
// system can use large pages: with small ones a census spends a fifth of its time on
// getting them, one by one.
type slab struct{ rest []record }

const (
	slabSize  = 16 << 20 // bytes of a piece, but for what its beginning leaves out
	largePage = 2 << 20  // bytes: what amd64 has, and arm64 in most systems
)

// segment returns an empty segment for n records.
func (s *slab) segment(n int) []record {
	if len(s.rest) < n {
		piece := make([]record, (slabSize+largePage)/recordSize)
		// What comes before the first large page is never used, and takes no memory.
		before := -uintptr(unsafe.Pointer(&piece[0])) % largePage / recordSize
		s.rest = piece[before:]
		adviseLarge(s.rest)
	}
	out := s.rest[:0:n]
	s.rest = s.rest[n:]
	return out
}
