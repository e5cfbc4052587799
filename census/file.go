package census

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/source"
)

// A saved census, which others may follow in the same file, is
//
//	source.SavedMagic | frame ...
//
// where a frame is
//
//	kind (1) | length of the payload (4) | payload | CRC-32C of all of that (4)
//
// with numbers in little-endian order. The first frame has kind 'm' and a savedCensus as
// JSON. Frames of kind 'i' have ids:
//
//	varint: 2 * collection + set | varint: number of ids | block
//
// where collection counts savedCensus.Collections and set is 0 for ObjectIds and 1 for
// strings of 24 hexadecimal digits. The blocks of one
// set are sorted, see appendBlock for their bytes. The last frame has kind 'e' and no
// payload: a file without it is cut off. Version 1 is the only one; it ends the magic.
const (
	frameMeta = 'm'
	frameIDs  = 'i'
	frameEnd  = 'e'

	// maxFrame is how long a payload is at most.
	maxFrame = 1 << 28
)

// The sets of a collection.
const (
	setIDs = iota
	setStrings
	setCount
)

// ErrSaved is wrapped by the errors about saved censuses that cannot be read.
var ErrSaved = errors.New("census: saved census")

// savedCensus is everything about a census but its ids.
type savedCensus struct {
	Field       string            `json:"field"`
	Places      uint32            `json:"places"`
	Sources     []savedSource     `json:"sources"`
	Spans       []placeSpan       `json:"spans"`
	Collections []savedCollection `json:"collections"`
	Partial     string            `json:"partial,omitempty"`
}

type savedSource struct {
	Source
	Problems  []savedText            `json:"problems,omitempty"`
	ObjectIDs int64                  `json:"object_ids"`
	Strings   int64                  `json:"strings,omitempty"`
	Others    map[string]int64       `json:"others,omitempty"`
	Samples   map[string][]savedText `json:"samples,omitempty"`
}

// savedText is an error or a value with the number of its document.
type savedText struct {
	Number int64  `json:"number"`
	Text   string `json:"text"`
}

type savedCollection struct {
	Name    string  `json:"name"`
	Outside int64   `json:"outside,omitempty"`
	Late    lateIDs `json:"late"`
	// Of the ids that are strings:
	StringsOutside int64   `json:"strings_outside,omitempty"`
	StringsLate    lateIDs `json:"strings_late"`
}

// Save writes c, which can then be read as a source of another census, alone or beside
// others. The error is w's, or that of reading spilled ids.
func (c *Census) Save(w io.Writer) error {
	if err := c.space.Settle(); err != nil {
		return err
	}
	out := &frameWriter{w: bufio.NewWriterSize(w, 1<<20)}
	if _, err := out.w.WriteString(source.SavedMagic); err != nil {
		return err
	}
	meta, err := json.Marshal(c.saved())
	if err != nil {
		return err
	}
	out.write(frameMeta, meta)
	for i, l := range c.collections {
		for set, ids := range l.sets() {
			if ids == nil {
				continue
			}
			blocks := idset.BlockBuffer{Write: func(block []idset.Record) error {
				payload := binary.AppendUvarint(out.payload[:0], uint64(i*setCount+set))
				payload = binary.AppendUvarint(payload, uint64(len(block)))
				out.payload = idset.AppendBlock(payload, block)
				out.write(frameIDs, out.payload)
				return out.err
			}}
			if err := ids.Visit(1, func() idset.Visitor { return blocks.Add }); err != nil {
				return err
			}
			blocks.Flush()
		}
	}
	out.write(frameEnd, nil)
	if out.err != nil {
		return out.err
	}
	return out.w.Flush()
}

// sets returns the sets of l by their numbers.
func (l *collection) sets() [setCount]*idset.Set {
	sets := [setCount]*idset.Set{setIDs: l.ids}
	if l.hexStrings != nil {
		sets[setStrings] = l.hexStrings.ids
	}
	return sets
}

// saved describes c.
func (c *Census) saved() savedCensus {
	out := savedCensus{Field: c.options.Field, Places: c.places, Spans: c.spans, Partial: c.partial}
	for _, s := range c.sources {
		saved := savedSource{
			Source: *s, ObjectIDs: s.objectIDs, Strings: s.stringIDs,
			Others: map[string]int64{}, Samples: map[string][]savedText{},
		}
		for _, p := range s.Problems {
			saved.Problems = append(saved.Problems, savedText{p.Position.Number, p.Error})
		}
		for k := range source.TypeCount {
			if s.others[k] > 0 {
				saved.Others[k.String()] = s.others[k]
			}
			for _, v := range s.samples[k] {
				saved.Samples[k.String()] = append(saved.Samples[k.String()], savedText{v.Position.Number, v.Text})
			}
		}
		out.Sources = append(out.Sources, saved)
	}
	for _, l := range c.collections {
		saved := savedCollection{Name: l.name, Outside: l.outside, Late: l.late}
		if l.hexStrings != nil {
			saved.StringsOutside, saved.StringsLate = l.hexStrings.outside, l.hexStrings.late
		}
		out.Collections = append(out.Collections, saved)
	}
	return out
}

// frameWriter writes frames up to the first error.
type frameWriter struct {
	w       *bufio.Writer
	payload []byte
	err     error
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (f *frameWriter) write(kind byte, payload []byte) {
	head := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, payload)
	for _, b := range [][]byte{head, payload, binary.LittleEndian.AppendUint32(nil, sum)} {
		if f.err == nil {
			_, f.err = f.w.Write(b)
		}
	}
}

// readFrame reads a frame into buf, where its payload stays until buf is used again.
func readFrame(in io.Reader, buf *bytes.Buffer) (kind byte, payload []byte, err error) {
	const headSize, sumSize = 5, 4
	read := func(n int64) error {
		_, err := io.CopyN(buf, in, n) // memory follows what is there, not what a length says
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = fmt.Errorf("%w: it is cut off: %w", ErrSaved, io.ErrUnexpectedEOF)
		}
		return err
	}
	buf.Reset()
	if err := read(headSize); err != nil {
		return 0, nil, err
	}
	length := binary.LittleEndian.Uint32(buf.Bytes()[1:])
	if length > maxFrame {
		return 0, nil, fmt.Errorf("%w: a part of %d bytes, want %d at most", ErrSaved, length, maxFrame)
	}
	if err := read(int64(length) + sumSize); err != nil {
		return 0, nil, err
	}
	frame, sum := buf.Bytes()[:headSize+length], buf.Bytes()[headSize+length:]
	if crc32.Checksum(frame, castagnoli) != binary.LittleEndian.Uint32(sum) {
		return 0, nil, fmt.Errorf("%w: it is damaged: a checksum is wrong", ErrSaved)
	}
	return frame[0], frame[headSize:], nil
}
