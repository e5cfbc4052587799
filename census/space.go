package census

import (
	"errors"
	"fmt"
	"os"
)

// space is the memory and the disk that several sets of ids share. Once there are more ids
// than there is room for in memory, fit moves all of them to disk.
type space struct {
	room    int // ids that there is memory for
	workers int // goroutines that sort

	sets     []*idSet
	inMemory int   // ids that are not on disk
	disk     *disk // nil as long as all ids are in memory
}

// newSet returns an empty set.
func (p *space) newSet() *idSet {
	s := &idSet{memory: newByProcess(new(slab)), space: p}
	p.sets = append(p.sets, s)
	return s
}

// fit spills the ids if there are more than there is room for.
func (p *space) fit() error {
	if p.inMemory > p.room {
		return p.spill()
	}
	return nil
}

// settle spills what is in memory if ids have been spilled before, so that visits have
// the memory.
func (p *space) settle() error {
	if p.disk == nil {
		return nil
	}
	return p.spill()
}

// spill moves all ids to disk.
func (p *space) spill() (err error) {
	if p.disk == nil {
		if p.disk, err = newDisk(); err != nil {
			return err
		}
	}
	for _, s := range p.sets {
		n := s.memory.len()
		if n == 0 {
			continue
		}
		s.memory.sort(p.workers)
		r, err := p.disk.write(s.memory)
		if err != nil {
			return err
		}
		s.runs, s.memory = append(s.runs, r), newByProcess(new(slab))
		p.inMemory -= n
	}
	return nil
}

// close removes what is on disk. The sets must not be used afterwards.
func (p *space) close() error {
	if p.disk == nil {
		return nil
	}
	d := p.disk
	p.disk = nil
	if err := d.close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("census: remove spilled ids: %w", err)
	}
	return nil
}
