package census

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"sort"
)

// disk is the temporary file to which a census spills ids that have no room in memory.
// A run is the ids of one set that were in memory at one time, sorted, as blocks.
type disk struct {
	file *os.File
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
	return &disk{file: f}, nil
}

func (d *disk) close() error {
	err := d.file.Close()
	_ = os.Remove(d.file.Name()) // where newDisk could not
	return err
}

// write writes the records of m, which must be sorted, as a run.
func (d *disk) write(m *byProcess) (*run, error) {
	out := bufio.NewWriterSize(&writerAt{d.file, d.size}, 1<<20)
	r := &run{disk: d}
	var encoded []byte
	size := d.size
	blocks := blockBuffer{write: func(block []record) error {
		encoded = appendBlock(encoded[:0], block)
		r.blocks = append(r.blocks, blockAt{block[0].value(), size, int32(len(encoded)), int32(len(block))})
		size += int64(len(encoded))
		_, err := out.Write(encoded)
		return err
	}}
	for e := range m.values(0, endOfValues) {
		blocks.add(e)
	}
	blocks.flush()
	if err := cmp.Or(blocks.err, out.Flush()); err != nil {
		return nil, fmt.Errorf("census: spill ids to disk: %w", err)
	}
	d.size = size
	return r, nil
}

// writerAt writes to a file from offset on.
type writerAt struct {
	file   *os.File
	offset int64
}

func (w *writerAt) Write(p []byte) (int, error) {
	n, err := w.file.WriteAt(p, w.offset)
	w.offset += int64(n)
	return n, err
}

// runReader reads the ids of a run with process values below end.
type runReader struct {
	run   *run
	next  int // block
	end   uint64
	ids   []record // decoded, and not yet taken
	block []record
	bytes []byte
}

// reader returns a reader of the process values from first to end, not included.
func (r *run) reader(first, end uint64) (*runReader, error) {
	// The block before the first that begins with a later value may have ids of first.
	next := max(0, sort.Search(len(r.blocks), func(i int) bool { return r.blocks[i].value >= first })-1)
	rr := &runReader{run: r, next: next, end: end}
	for {
		if err := rr.fill(); err != nil || len(rr.ids) == 0 {
			return rr, err
		}
		i := sort.Search(len(rr.ids), func(i int) bool { return rr.ids[i].value() >= first })
		if rr.ids = rr.ids[i:]; len(rr.ids) > 0 {
			return rr, nil
		}
	}
}

// fill decodes the next block. At the end it leaves ids empty.
func (r *runReader) fill() error {
	r.ids = nil
	if r.next == len(r.run.blocks) || r.run.blocks[r.next].value >= r.end {
		return nil
	}
	at := r.run.blocks[r.next]
	r.next++
	if cap(r.bytes) < int(at.size) {
		r.bytes = make([]byte, at.size)
	}
	b := r.bytes[:at.size]
	if _, err := r.run.disk.file.ReadAt(b, at.offset); err != nil {
		return fmt.Errorf("census: read spilled ids: %w", err)
	}
	var err error
	if r.block, err = decodeBlock(r.block[:0], b, int(at.records)); err != nil {
		return err
	}
	r.ids = r.block
	return nil
}

func (r *runReader) value() (uint64, bool) {
	if len(r.ids) == 0 {
		return 0, false
	}
	v := r.ids[0].value()
	return v, v < r.end
}

func (r *runReader) take(list *records) error {
	value := r.ids[0].value()
	for len(r.ids) > 0 && r.ids[0].value() == value {
		n := len(r.ids)
		if r.ids[n-1].value() != value {
			n = sort.Search(n, func(i int) bool { return r.ids[i].value() != value })
		}
		list.append(r.ids[:n]...)
		if r.ids = r.ids[n:]; len(r.ids) == 0 {
			if err := r.fill(); err != nil {
				return err
			}
		}
	}
	return nil
}
