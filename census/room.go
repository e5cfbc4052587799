package census

import (
	"errors"
	"fmt"
)

// room is segments for records: a number of them in memory, and beyond these in a
// temporary file that is mapped into memory, of which the system keeps as much there as
// it can.
type room struct {
	inMemory int // segments that may still be made in memory
	free     [][]record
	mapped   []mapping
	file     *disk
	err      error // of the file; segments are then made in memory
}

// mapping is a stretch of a file as records.
type mapping struct {
	records []record
	unmap   func() error
}

// mappedSegments is how many segments are mapped at once.
const mappedSegments = 16

func newRoom(inMemory int) *room { return &room{inMemory: max(1, inMemory>>largeSegments)} }

// segment returns an empty segment of 1<<largeSegments records.
func (r *room) segment() []record {
	if len(r.free) == 0 && r.inMemory == 0 && r.err == nil {
		r.err = r.extend()
	}
	if n := len(r.free); n > 0 {
		s := r.free[n-1]
		r.free = r.free[:n-1]
		return s[:0]
	}
	r.inMemory = max(0, r.inMemory-1)
	return make([]record, 0, 1<<largeSegments)
}

// extend maps more segments.
func (r *room) extend() error {
	if r.file == nil {
		file, err := newDisk()
		if err != nil {
			return err
		}
		r.file = file
	}
	const size = mappedSegments << largeSegments * recordSize
	m, err := mapRecords(r.file.file, r.file.size, size)
	if err != nil {
		return fmt.Errorf("census: spill ids to disk: %w", err)
	}
	r.file.size += size
	r.mapped = append(r.mapped, m)
	for i := mappedSegments - 1; i >= 0; i-- {
		r.free = append(r.free, m.records[i<<largeSegments:(i+1)<<largeSegments:(i+1)<<largeSegments])
	}
	return nil
}

// give returns a segment.
func (r *room) give(s []record) { r.free = append(r.free, s) }

func (r *room) close() error {
	var failed error
	for _, m := range r.mapped {
		failed = errors.Join(failed, m.unmap())
	}
	if r.file != nil {
		failed = errors.Join(failed, r.file.close())
	}
	return failed
}
