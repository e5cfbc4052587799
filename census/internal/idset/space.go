package idset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"unsafe"
)

// Space is the memory and the disk that several sets of ids share. Once there are more ids
// than there is room for in memory, [Space.Fit] moves all of them to disk.
type Space struct {
	Room     int   // ids that there is memory for
	Workers  int   // goroutines that sort
	InMemory int   // ids that are not on disk
	Disk     *disk // nil as long as all ids are in memory

	sets []*Set
}

// NewSet returns an empty set.
func (p *Space) NewSet() *Set {
	s := &Set{memory: newByProcess(new(slab)), space: p}
	p.sets = append(p.sets, s)
	return s
}

// Fit spills the ids if there are more than there is room for.
func (p *Space) Fit() error {
	if p.InMemory > p.Room {
		return p.spill()
	}
	return nil
}

// Settle spills what is in memory if ids have been spilled before, so that visits have
// the memory.
func (p *Space) Settle() error {
	if p.Disk == nil {
		return nil
	}
	return p.spill()
}

// spill moves all ids to disk.
func (p *Space) spill() (err error) {
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
		s.runs, s.memory = append(s.runs, r), newByProcess(new(slab))
		p.InMemory -= n
	}
	return nil
}

// Close removes what is on disk. The sets must not be used afterwards.
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

// disk is the temporary file to which a census spills ids that have no room in memory.
type disk struct {
	File *os.File
	size int64
}

// run is a stretch of a disk: the records of one set that were in memory at one time,
// sorted, as they were there.
type run struct {
	disk    *disk
	offset  int64
	records int
	sample  []weighted
}

// newDisk creates the file. Where that is possible the file has no name, so that it is
// gone when the process ends, however it ends.
func newDisk() (*disk, error) {
	f, err := os.CreateTemp("", "oid-census-")
	if err != nil {
		return nil, fmt.Errorf("census: spill ids to disk: %w", err)
	}
	_ = os.Remove(f.Name()) // fails on systems that do not remove open files; Close removes it there
	return &disk{File: f}, nil
}

func (d *disk) close() error {
	err := d.File.Close()
	_ = os.Remove(d.File.Name()) // where newDisk could not
	return err
}

// write writes the records of m, which must be sorted, as a run.
func (d *disk) write(m *byProcess) (*run, error) {
	r := &run{disk: d, offset: d.size, records: m.len(), sample: m.sample()}
	out := bufio.NewWriterSize(io.NewOffsetWriter(d.File, d.size), 1<<20)
	for e := range m.values(0, EndOfValues) {
		for records := range e.Spans() {
			_, _ = out.Write(bytesOf(records)) // Flush returns the error
		}
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("census: spill ids to disk: %w", err)
	}
	d.size += int64(r.records) * RecordSize
	return r, nil
}

// load adds the records of the process values from first to end, not included, to m.
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
	for n := atOnce; n == atOnce && err == nil; i += n {
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

// bytesOf returns the memory of records.
func bytesOf(records []Record) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(records))), len(records)*RecordSize)
}
