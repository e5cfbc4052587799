package bsonwalk

// Walk is a position in a document, at first before its first element. The slices that its
// methods return are parts of the document. Only one goroutine at a time may use a Walk.
type Walk struct {
	doc   []byte
	typ   byte
	start int // offset of the element
	value int // offset of its value
	end   int // offset of its end
	err   error
}

// New returns a walk over doc, which is one whole document. [Walk.Err] says whether Check found
// an error.
func New(doc []byte) Walk { return Walk{doc: doc, end: First, err: Check(doc)} }

// Next moves to the next element. It returns false after the last element, and if the document
// is not valid there: see [Walk.Err].
func (w *Walk) Next() bool {
	if w.err != nil || w.end == len(w.doc)-1 {
		return false
	}
	w.start = w.end
	w.typ = w.doc[w.start]
	w.value, w.end, w.err = Element(w.doc, w.start)
	return w.err == nil
}

// Err returns the error that ended the walk. It is nil before the end, and after a document
// without errors.
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
