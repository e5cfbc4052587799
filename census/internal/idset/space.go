package idset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sort"
	"unsafe"
)

// Space is the memory and the temporary file that several sets share. When their records in
// memory exceed Room, [Space.Fit] moves all records to the file.
type Space struct {
	Room     int   // the most records in memory
	Workers  int   // the number of goroutines that sort
	InMemory int   // the number of records that are not on disk
	Disk     *disk // the temporary file; nil as long as all records are in memory

	sets []*Set
	slab *slab // memory of all sets
}

// NewSet returns an empty set that shares the space.
func (p *Space) NewSet() *Set {
	if p.slab == nil {
		p.slab = new(slab)
	}
	s := &Set{memory: newByProcess(p.slab), space: p}
	p.sets = append(p.sets, s)
	return s
}

// Fit moves all records to disk if more than Room are in memory.
func (p *Space) Fit() error {
	if p.InMemory > p.Room {
		return p.spill()
	}
	return nil
}

// Settle prepares the sets for visits. If some records are on disk, it moves the others to
// disk, too, so that visits can use the memory.
func (p *Space) Settle() error {
	if p.Disk == nil {
		return nil
	}
	if err := p.spill(); err != nil {
		return err
	}
	p.slab = new(slab)
	for _, s := range p.sets {
		s.memory = newByProcess(p.slab)
	}
	debug.FreeOSMemory() // for visits, which map files
	return nil
}

// spill writes the records of each set to disk, as a run.
func (p *Space) spill() (err error) {
	defer func() { err = spillError(err) }()
	if p.Disk == nil {
		if p.Disk, err = newDisk(); err != nil {
			return err
		}
	}
	for _, s := range p.sets {
		n := s.memory.len()
		if n == 0 {
			continue
		}
		s.memory.sort(p.Workers)
		r, err := p.Disk.write(s.memory)
		if err != nil {
			return err
		}
		s.runs, s.memory = append(s.runs, r), newByProcess(p.slab)
		p.InMemory -= n
	}
	p.slab.reset()
	return nil
}

// Close removes the temporary file. The sets must not be used afterwards. Further calls do
// nothing.
func (p *Space) Close() error {
	if p.Disk == nil {
		return nil
	}
	d := p.Disk
	p.Disk = nil
	if err := d.close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("census: remove spilled ids: %w", err)
	}
	return nil
}

// spillError says why ids that do not fit into memory could not be written to disk, and what to do.
func spillError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // without the name of the file, which is removed
	}
	return fmt.Errorf("census: spill ids to disk: %w; %s", err, moreSpace)
}

// disk is a temporary file with records that did not fit into memory.
type disk struct {
	File *os.File
	size int64 // in bytes
}

// run is a part of a disk with the sorted records of one set. They are stored as they were in
// memory.
type run struct {
	disk    *disk
	offset  int64 // in bytes
	records int
	sample  []weighted // see byProcess.sample
}

// newDisk creates the temporary file and removes its name at once. So the system deletes the
// file when the process ends, even after a crash.
func newDisk() (*disk, error) {
	f, err := os.CreateTemp("", "oid-census-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // fails on systems that cannot remove an open file; there, close removes it
	return &disk{File: f}, nil
}

func (d *disk) close() error {
	err := d.File.Close()
	_ = os.Remove(d.File.Name()) // fails if newDisk removed it
	return err
}

// write writes the records of m as a run. m must be sorted.
func (d *disk) write(m *byProcess) (*run, error) {
	r := &run{disk: d, offset: d.size, records: m.len(), sample: m.sample()}
	out := bufio.NewWriterSize(io.NewOffsetWriter(d.File, d.size), 1<<20)
	for e := range m.values(0, EndOfValues) {
		for records := range e.Spans() {
			_, _ = out.Write(bytesOf(records)) // Flush returns the error
		}
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	d.size += int64(r.records) * RecordSize
	return r, nil
}

// load adds to m those records of the run whose process values are from first to end, not
// included. It ends early if the slab of m has an error.
func (r *run) load(m *byProcess, first, end uint64) (err error) {
	const atOnce = 4096
	buf := make([]Record, atOnce)
	read := func(i, n int) []Record {
		if err == nil {
			_, err = r.disk.File.ReadAt(bytesOf(buf[:n]), r.offset+int64(i)*RecordSize)
		}
		return buf[:n]
	}
	i := sort.Search(r.records, func(i int) bool { return read(i, 1)[0].Value() >= first })
	for n := atOnce; n == atOnce && err == nil && m.rest.slab.err == nil; i += n {
		part := read(i, min(atOnce, r.records-i))
		n = sort.Search(len(part), func(k int) bool { return part[k].Value() >= end })
		if err == nil {
			m.add(part[:n], 0)
		}
	}
	if err != nil {
		return fmt.Errorf("census: read spilled ids: %w", err)
	}
	return nil
}

// bytesOf returns the memory of records as bytes, without a copy.
func bytesOf(records []Record) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(records))), len(records)*RecordSize)
}
