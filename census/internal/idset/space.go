package idset

import (
	"errors"
	"fmt"
	"os"
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
