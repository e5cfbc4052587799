package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/oidkit/oid/internal/bsonwalk"
)

// maxDocument is the size of the largest document that MongoDB itself makes:
// 16 MiB for users, and 16 KiB of its own around that.
const maxDocument = 16<<20 + 16<<10

// batchSize is how many documents of a stream go into one batch.
const batchSize = 1 << 14

// errTerminator is returned for the four bytes 0xFF that end a part of an
// archive.
var errTerminator = errors.New("terminator")

// errBSON is wrapped by what is wrong with a document.
var errBSON = errors.New("census: not a BSON document")

// bsonReader reads BSON documents, one after another.
type bsonReader struct {
	*stream
	path     []string
	elements bool // an array's elements are values, too
	archive  bool // documents end with a terminator
	emit     func(*Batch) error
	pool     *pool
	label    string // collection of an archive
	quiet    bool   // pass over the documents
}

// read emits the documents up to the end of the stream or, in an archive, up to
// a terminator, which it passes.
func (r *bsonReader) read(ctx context.Context) error {
	for {
		b := r.pool.get()
		b.Collection = r.label
		err := r.batch(ctx, b)
		if r.quiet {
			r.pool.put(b)
		} else if failed := r.emit(b); failed != nil {
			return failed
		}
		switch err {
		case nil:
		case io.EOF, errTerminator:
			return err
		default:
			return stopped(r.offset, err)
		}
	}
}

// batch fills b. A document that is not whole stays in the stream.
func (r *bsonReader) batch(ctx context.Context, b *Batch) error {
	const idOfTypeObjectID = 0x07 | '_'<<8 | 'i'<<16 | 'd'<<24
	first := len(r.path) == 1 && r.path[0] == "_id"
	for b.Documents < batchSize {
		data, place := r.data, b.Documents
		pos := 0
		// Most documents begin with an _id that is an ObjectId, and need no look
		// beyond their first 21 bytes and their last.
		for first && place < batchSize && len(data)-pos >= 22 {
			d := data[pos:]
			size := int(int32(binary.LittleEndian.Uint32(d)))
			if size < 22 || size > len(d) || binary.LittleEndian.Uint32(d[4:]) != idOfTypeObjectID || d[8] != 0 || d[size-1] != 0 {
				break
			}
			b.addID(d[9:], place)
			place++
			pos += size
		}
		b.Documents = place
		r.pass(pos)
		if place >= batchSize {
			break
		}
		size, err := r.next(ctx)
		if err != nil {
			return err
		}
		if err := b.addBSON(r.data[:size], b.Documents, r.path, r.elements); err != nil {
			return err
		}
		b.Documents++
		r.pass(size)
	}
	return nil
}

// next makes the stream hold the next document and returns its size.
func (r *bsonReader) next(ctx context.Context) (size int, err error) {
	if err := r.need(ctx, 4); err != nil {
		if err == io.ErrUnexpectedEOF {
			return 0, fmt.Errorf("the input ends within a document's length: %w", err)
		}
		return 0, err
	}
	n := binary.LittleEndian.Uint32(r.data)
	if n == 0xFFFFFFFF && r.archive {
		r.pass(4)
		return 0, errTerminator
	}
	if int32(n) < 5 || n > maxDocument {
		return 0, fmt.Errorf("%w: its length says %d bytes, possible are 5 to %d", errBSON, int32(n), maxDocument)
	}
	if err := r.need(ctx, int(n)); err != nil {
		if err == io.ErrUnexpectedEOF {
			return 0, fmt.Errorf("the input ends within a document: %d of its %d bytes are there: %w", len(r.data), n, err)
		}
		return 0, err
	}
	if r.data[n-1] != 0 {
		return 0, fmt.Errorf("%w: no zero byte at its end, %d bytes on", errBSON, n)
	}
	return int(n), nil
}

// addBSON adds what path names in doc.
func (b *Batch) addBSON(doc []byte, place uint32, path []string, elements bool) error {
	found := 0
	err := findBSON(doc, path, func(typ byte, value []byte) {
		found++
		if typ != 0x04 || !elements {
			b.bsonValue(typ, value, place)
			return
		}
		// The array's end has been found, and an element that cannot be read is no
		// reason to skip the document.
		for w := bsonwalk.New(value); w.Next(); {
			b.bsonValue(w.Type(), w.Value(), place)
		}
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errBSON, err)
	}
	if found == 0 {
		b.Without++
	}
	return nil
}

// findBSON calls found with every value that path names in doc. Arrays on the path
// are searched, as in a query of MongoDB.
func findBSON(doc []byte, path []string, found func(typ byte, value []byte)) error {
	w := bsonwalk.New(doc)
	for w.Next() {
		if string(w.Name()) == path[0] {
			return enterBSON(w.Type(), w.Value(), path[1:], found)
		}
	}
	return w.Err()
}

func enterBSON(typ byte, value []byte, path []string, found func(typ byte, value []byte)) error {
	switch {
	case len(path) == 0:
		found(typ, value)
	case typ == 0x03:
		return findBSON(value, path, found)
	case typ == 0x04:
		w := bsonwalk.New(value)
		for w.Next() {
			var err error
			switch {
			case string(w.Name()) == path[0]:
				err = enterBSON(w.Type(), w.Value(), path[1:], found)
			case w.Type() == 0x03:
				err = findBSON(w.Value(), path, found)
			}
			if err != nil {
				return err
			}
		}
		return w.Err()
	}
	return nil
}
