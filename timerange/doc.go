// Package timerange turns what people type about time into ranges of ids, and
// ranges of ids into queries to paste.
//
// Start with [Span], the two ends of a stretch of time as somebody typed them,
// and [Forms], the languages that a range can be written in. The command and the
// web page both read and write with these.
package timerange
