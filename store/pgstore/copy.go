package pgstore

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/jackc/pgx/v5"
)

// copyRows is how many rows make COPY worth its way.
const copyRows = 20

// copy stores all rows or, if a key is taken, none.
func (in *insertion) copy(c *pgx.Conn) error {
	r := &copyReader{rows: in.rows, more: in.more, call: uint64(in.call), part: []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")}
	// After some errors the driver still reads for a moment, and the documents are
	// the caller's again.
	defer r.close()
	_, err := c.PgConn().CopyFrom(in.ctx, r, "COPY "+in.s.table(in.collection)+" (_id, call, doc) FROM STDIN (FORMAT binary)")
	return err
}

// copyReader reads rows in the format that is described under "Binary Format" at
// https://www.postgresql.org/docs/15/sql-copy.html. The server works on the first
// while the others are prepared and read.
type copyReader struct {
	mu    sync.Mutex
	call  uint64
	rows  []row
	more  func() []row // returns the rows after these, some at a time
	part  []byte       // to be read before all else
	doc   []byte       // to be read after part
	head  []byte       // the memory of part
	ended bool
}

func (r *copyReader) Read(b []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(b) {
		if len(r.part) == 0 && !r.next() {
			break
		}
		m := copy(b[n:], r.part)
		r.part, n = r.part[m:], n+m
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// next goes on to the next part. It returns false after the last.
func (r *copyReader) next() bool {
	if len(r.doc) == 0 && len(r.rows) == 0 && r.more != nil {
		r.rows = r.more()
	}
	switch {
	case len(r.doc) > 0:
		r.part, r.doc = r.doc, nil
	case len(r.rows) > 0:
		first := r.rows[0]
		r.rows = r.rows[1:]
		h := binary.BigEndian.AppendUint16(r.head[:0], 3) // columns
		h = binary.BigEndian.AppendUint32(h, uint32(len(first.id)))
		h = append(h, first.id...)
		h = binary.BigEndian.AppendUint32(h, 8)
		h = binary.BigEndian.AppendUint64(h, r.call)
		h = binary.BigEndian.AppendUint32(h, uint32(len(first.Doc)))
		r.head, r.part, r.doc = h, h, first.Doc
	case !r.ended:
		r.part, r.ended = []byte{0xFF, 0xFF}, true
	default:
		return false
	}
	return true
}

// close makes the reader read nothing more.
func (r *copyReader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows, r.more, r.part, r.doc, r.ended = nil, nil, nil, nil, true
}
