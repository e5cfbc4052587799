package idset

import (
	"errors"
	"fmt"
	"unsafe"
)

// slab is memory from which segments are cut. It comes in large pieces, for which the
// system can use large pages: with small ones a census spends a fifth of its time on
// getting them, one by one. Beyond a limit, pieces are in a temporary file that is mapped
// into memory, of which the system keeps as much there as it can.
type slab struct {
	rest   []Record
	pieces [][]Record // all of them
	used   int        // of pieces

	limit int   // records that may be in memory; 0 is no limit
	file  *disk // of the pieces beyond it
	unmap []func() error
	err   error // of file; pieces are then made in memory
}

const (
	slabSize  = 16 << 20 // bytes of a piece, but for what its beginning leaves out
	largePage = 2 << 20  // bytes: what amd64 has, and arm64 in most systems
)

// segment returns an empty segment for n records.
func (s *slab) segment(n int) []Record {
	if len(s.rest) < n {
		if s.used == len(s.pieces) {
			s.pieces = append(s.pieces, s.newPiece())
		}
		s.rest = s.pieces[s.used]
		s.used++
	}
	out := s.rest[:0:n]
	s.rest = s.rest[n:]
	return out
}

// reset takes all segments back.
func (s *slab) reset() { s.rest, s.used = nil, 0 }

func (s *slab) newPiece() []Record {
	if s.limit > 0 && (len(s.pieces)+1)*(slabSize/RecordSize) > s.limit && s.err == nil {
		var piece []Record
		if piece, s.err = s.mapPiece(); s.err == nil {
			return piece
		}
	}
	piece := make([]Record, (slabSize+largePage)/RecordSize)
	// What comes before the first large page is never used, and takes no memory.
	before := -uintptr(unsafe.Pointer(&piece[0])) % largePage / RecordSize
	adviseLarge(piece[before:])
	return piece[before:]
}

func (s *slab) mapPiece() ([]Record, error) {
	if s.file == nil {
		file, err := newDisk()
		if err != nil {
			return nil, err
		}
		s.file = file
	}
	piece, unmap, err := mapRecords(s.file.File, s.file.size, slabSize)
	if err != nil {
		return nil, fmt.Errorf("census: spill ids to disk: %w", err)
	}
	s.file.size += slabSize
	s.unmap = append(s.unmap, unmap)
	return piece, nil
}

// close removes the temporary file.
func (s *slab) close() (err error) {
	for _, unmap := range s.unmap {
		err = errors.Join(err, unmap())
	}
	if s.file != nil {
		err = errors.Join(err, s.file.close())
	}
	return err
}
