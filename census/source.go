package census

import "github.com/oidkit/oid/census/source"

// Source is what was read from one source, or from one collection of an archive.
type Source struct {
	// Name is the name that was given to [Census.Read].
	Name string
	// Collection is the collection of an archive, with its database, or empty.
	Collection string
	// Collections is how many collections of this archive are sources of their
	// own, which follow.
	Collections int
	// Format is what the source was read as; "auto" if that was not found out.
	Format source.Format
	// Unit is what positions count: document, line or row.
	Unit string
	// Units is how many of them there were.
	Units int64
	// IDs is how many ObjectIds were found, those outside the range left out.
	IDs int64
	// Others is how many values were of another type.
	Others int64
	// Without is how many documents or rows lack the field.
	Without int64
	// Broken is how many documents or lines could not be read and were passed
	// over, and Problems says what was wrong with the first of them.
	Broken   int64
	Problems []Problem
	// Error says where reading stopped before the source's end, and why. It is
	// empty for a source that was read to its end.
	Error string

	number   int
	youngest youngest // plausible seconds so far
	others   [source.TypeCount]int64
	samples  [source.TypeCount][]Value
	parts    map[string]*Source // collections of an archive
}

// Position is a place in a source.
type Position struct {
	Source     string
	Collection string
	// Unit is what Number counts from 1: document, line or row.
	Unit   string
	Number int64
}

// Problem is a document or line that could not be read.
type Problem struct {
	Position Position
	Error    string
}

// Value is an example of a value that is not an ObjectId.
type Value struct {
	Position Position
	// Text is the value as text, cut if it is long.
	Text string
}
