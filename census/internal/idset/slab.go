package idset

import (
	"errors"
	"unsafe"
)

// slab provides memory for segments. It allocates large pieces, for which the system can use
// large pages. With small pages a census spends a fifth of its time on page faults. Pieces
// beyond the limit are mapped from a temporary file, so that the system can write them to
// disk when memory is short.
type slab struct {
	rest   []Record   // the unused part of the newest used piece
	pieces [][]Record // all pieces
	used   int        // how many pieces have been used since reset

	limit int            // records that may be in memory; 0 means no limit
	file  *disk          // has the pieces beyond the limit
	unmap []func() error // for each piece in file
	err   error          // of file; later pieces are allocated in memory
}

const (
	slabSize  = 16 << 20 // usable bytes of a piece, about
	largePage = 2 << 20  // bytes, on amd64 and on most arm64 systems
)

// segment returns an empty segment with room for n records.
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

// reset makes the memory of all segments available again.
func (s *slab) reset() { s.rest, s.used = nil, 0 }

func (s *slab) newPiece() []Record {
	if s.limit > 0 && (len(s.pieces)+1)*(slabSize/RecordSize) > s.limit && s.err == nil {
		var piece []Record
		if piece, s.err = s.mapPiece(); s.err == nil {
			return piece
		}
	}
	piece := make([]Record, (slabSize+largePage)/RecordSize)
	// Skip the bytes before the first large page. They are never touched, so they take no
	// memory.
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
		return nil, spillError(err)
	}
	s.file.size += slabSize
	s.unmap = append(s.unmap, unmap)
	return piece, nil
}

// close removes the temporary file, if there is one.
func (s *slab) close() (err error) {
	for _, unmap := range s.unmap {
		err = errors.Join(err, unmap())
	}
	if s.file != nil {
		err = errors.Join(err, s.file.close())
	}
	return err
}
