package pgstore

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// copyRows is the number of rows from which on COPY is faster than INSERT.
const copyRows = 20

// copyBuffer is the size of the write buffer of copyReader, in bytes. It is a little less than
// the driver reads at once.
const copyBuffer = 60 << 10

// copyHead is the header of the binary COPY format.
const copyHead = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// copy inserts all rows with COPY. If a key is taken, it inserts no row and fails.
func (in *insertion) copy(c *pgx.Conn) error {
	rows, stop := copyReader(in.rows, in.more, in.call)
	// After some errors the driver goes on reading for a moment. stop makes sure that it does not
	// read documents that belong to the caller again.
	defer stop()
	_, err := c.PgConn().CopyFrom(in.ctx, io.MultiReader(strings.NewReader(copyHead), rows), "COPY "+in.s.table(in.collection)+" (_id, call, doc) FROM STDIN (FORMAT binary)")
	return err
}

// copyReader returns a reader for rows, followed by the rows that more returns, in the binary
// COPY format without its header; see "Binary Format" at
// https://www.postgresql.org/docs/15/sql-copy.html. A goroutine prepares rows while earlier
// ones are read. After stop, no row is used any more.
func copyReader(rows []row, more func() []row, call int64) (r io.Reader, stop func()) {
	out, in := io.Pipe()
	var writing sync.WaitGroup
	writing.Go(func() {
		w := bufio.NewWriterSize(in, copyBuffer)
		var head []byte
		var err error
		for ; len(rows) > 0 && err == nil; rows = more() {
			for _, r := range rows {
				head = binary.BigEndian.AppendUint16(head[:0], 3) // columns
				head = binary.BigEndian.AppendUint32(head, uint32(len(r.id)))
				head = append(head, r.id...)
				head = binary.BigEndian.AppendUint32(head, 8)
				head = binary.BigEndian.AppendUint64(head, uint64(call))
				head = binary.BigEndian.AppendUint32(head, uint32(len(r.Doc)))
				_, _ = w.Write(head)
				_, err = w.Write(r.Doc) // returns the error of the first Write too, if it failed
			}
		}
		_, _ = w.Write([]byte{0xFF, 0xFF})
		in.CloseWithError(w.Flush())
	})
	return out, func() {
		_ = out.Close()
		writing.Wait()
	}
}
