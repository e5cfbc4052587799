// Package bsonwalk reads the elements of BSON documents, also of documents that
// cannot be trusted, without decoding or allocating anything. The format is that
// of the BSON specification, version 1.1.
//
//	w := bsonwalk.New(doc)
//	for w.Next() {
//		fmt.Printf("%s %x\n", w.Name(), w.Value())
//	}
//	if err := w.Err(); err != nil {
//
// It looks at the structure alone: whether a string is UTF-8 or a nested document
// is sound is for the caller to find out.
package bsonwalk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// errShort means that a document ends too early.
var errShort = errors.New("it ends in the middle")

// Walk is a position in a document, at first before its first element. Its slices
// are those of the document. It is not safe for concurrent use.
type Walk struct {
	doc   []byte
	typ   byte
	start int // of the element
	value int // where its value starts
	end   int // of the element
	err   error
}

// New returns a walk over doc, which is one whole document.
func New(doc []byte) Walk {
	w := Walk{doc: doc, end: 4}
	switch {
	case len(doc) < 5:
		w.err = errShort
	case uint64(binary.LittleEndian.Uint32(doc)) != uint64(len(doc)):
		w.err = fmt.Errorf("its length is %d bytes, it says %d", len(doc), binary.LittleEndian.Uint32(doc))
	case doc[len(doc)-1] != 0:
		w.err = errors.New("no zero byte at its end")
	}
	return w
}

// Next moves to the next element. It returns false after the last one and at an
// error, see [Walk.Err].
func (w *Walk) Next() bool {
	last := len(w.doc) - 1
	if w.err != nil || w.end == last {
		return false
	}
	w.start = w.end
	w.typ = w.doc[w.start]
	n := bytes.IndexByte(w.doc[w.start+1:last], 0)
	if n < 0 {
		w.err = errShort
		return false
	}
	w.value = w.start + 1 + n + 1
	size, err := ValueSize(w.typ, w.doc[w.value:last])
	if err != nil {
		w.err = w.Wrap(err)
		return false
	}
	w.end = w.value + size
	return true
}

// Err returns what is wrong with the document, or nil if it was read to its end
// or is being read.
func (w *Walk) Err() error { return w.err }

// Type returns the type of the element, as the specification numbers them.
func (w *Walk) Type() byte { return w.typ }

// Name returns the name of the element.
func (w *Walk) Name() []byte { return w.doc[w.start+1 : w.value-1] }

// Value returns the bytes of the element's value.
func (w *Walk) Value() []byte { return w.doc[w.value:w.end] }

// Offsets returns where in the document the element starts, where its value does
// and where both end.
func (w *Walk) Offsets() (start, value, end int) { return w.start, w.value, w.end }

// Wrap returns err with the name of the element, shortened if it is long.
func (w *Walk) Wrap(err error) error {
	return fmt.Errorf("field %.100q: %w", w.Name(), err)
}
