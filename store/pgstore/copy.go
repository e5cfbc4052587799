package pgstore

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// copyRows is how many rows make COPY worth its way.
const copyRows = 20

// copyBuffer is how many bytes of rows are prepared ahead of the driver, which reads a
// little more at once.
const copyBuffer = 60 << 10

// copyHead is what the format begins with.
const copyHead = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// copy stores all rows or, if a key is taken, none.
func (in *insertion) copy(c *pgx.Conn) error {
	rows, stop := copyReader(in.rows, in.more, in.call)
	// After some errors the driver still reads for a moment, and the documents are
	// the caller's again.
	defer stop()
	_, err := c.PgConn().CopyFrom(in.ctx, io.MultiReader(strings.NewReader(copyHead), rows), "COPY "+in.s.table(in.collection)+" (_id, call, doc) FROM STDIN (FORMAT binary)")
	return err
}

// copyReader returns rows, and those that more returns after them, in the format that is
// described under "Binary Format" at https://www.postgresql.org/docs/15/sql-copy.html. They
// are prepared while those before them are read. After stop none is used.
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
				_, err = w.Write(r.Doc) // or the first error of both
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
