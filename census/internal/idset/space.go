package idset

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
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
// A run is the ids of one set that were in memory at one time, sorted, as blocks.
type disk struct {
	File *os.File
	size int64
}

// run is a stretch of a disk. blocks are in the order of their ids.
type run struct {
	disk   *disk
	blocks []blockAt
}

// blockAt is where a block is.
type blockAt struct {
	value   uint64 // process value of the first id
	offset  int64
	size    int32
	records int32
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
	out := bufio.NewWriterSize(io.NewOffsetWriter(d.File, d.size), 1<<20)
	r := &run{disk: d}
	var encoded []byte
	size := d.size
	blocks := BlockBuffer{Write: func(block []Record) error {
		encoded = AppendBlock(encoded[:0], block)
		r.blocks = append(r.blocks, blockAt{block[0].Value(), size, int32(len(encoded)), int32(len(block))})
		size += int64(len(encoded))
		_, err := out.Write(encoded)
		return err
	}}
	for e := range m.values(0, EndOfValues) {
		blocks.Add(e)
	}
	blocks.Flush()
	if err := cmp.Or(blocks.err, out.Flush()); err != nil {
		return nil, fmt.Errorf("census: spill ids to disk: %w", err)
	}
	d.size = size
	return r, nil
}

// load adds the records of the process values from first to end, not included, to m.
func (r *run) load(m *byProcess, first, end uint64) error {
	// The block before the first that begins with a later value may have ids of first.
	next := max(0, sort.Search(len(r.blocks), func(i int) bool { return r.blocks[i].value >= first })-1)
	var encoded []byte
	var records []Record
	for _, at := range r.blocks[next:] {
		if at.value >= end {
			break
		}
		encoded = slices.Grow(encoded[:0], int(at.size))[:at.size]
		if _, err := r.disk.File.ReadAt(encoded, at.offset); err != nil {
			return fmt.Errorf("census: read spilled ids: %w", err)
		}
		var err error
		if records, err = DecodeBlock(records[:0], encoded, int(at.records)); err != nil {
			return err
		}
		from := sort.Search(len(records), func(i int) bool { return records[i].Value() >= first })
		to := sort.Search(len(records), func(i int) bool { return records[i].Value() >= end })
		m.add(records[from:to], 0)
	}
	return nil
}
