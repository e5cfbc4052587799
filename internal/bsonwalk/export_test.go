package bsonwalk

// Offsets returns where in the document the element starts, where its value does
// and where both end.
func (w *Walk) Offsets() (start, value, end int) { return w.start, w.value, w.end }
