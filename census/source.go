package census

import "github.com/oidkit/oid/census/source"

// Source is what was read from one source, or from one collection of an archive.
type Source struct {
	// Name is the name that was given to [Census.Read].
	Name string `json:"name"`
	// Collection is the collection of an archive, with its database, or empty.
	Collection string `json:"collection,omitempty"`
	// Collections is how many collections of this archive are sources of their
	// own, which follow.
	Collections int `json:"collections,omitempty"`
	// Format is what the source was read as; "auto" if that was not found out.
	Format source.Format `json:"format"`
	// Unit is what positions count: document, line or row.
	Unit string `json:"unit"`
	// Units is how many of them there were.
	Units int64 `json:"units"`
	// IDs is how many ObjectIds were found, those outside the range left out.
	IDs int64 `json:"ids"`
	// Others is how many values were of another type.
	Others int64 `json:"others"`
	// Without is how many documents or rows lack the field.
	Without int64 `json:"without"`
	// Broken is how many documents or lines could not be read and were passed
	// over, and Problems says what was wrong with the first of them.
	Broken   int64     `json:"broken"`
	Problems []Problem `json:"problems,omitempty"`
	// Error says where reading stopped before the source's end, and why. It is
	// empty for a source that was read to its end.
	Error string `json:"error,omitempty"`

	number   int
	youngest youngest // plausible seconds so far
	others   [source.TypeCount]int64
	samples  [source.TypeCount][]Value
	parts    map[string]*Source // collections of an archive
}

// Position is a place in a source.
type Position struct {
	Source     string `json:"source"`
	Collection string `json:"collection,omitempty"`
	// Unit is what Number counts from 1: document, line or row.
	Unit   string `json:"unit"`
	Number int64  `json:"number"`
}

// Problem is a document or line that could not be read.
type Problem struct {
	Position Position `json:"position"`
	Error    string   `json:"error"`
}

// Value is an example of a value that is not an ObjectId.
type Value struct {
	Position Position `json:"position"`
	// Text is the value as text, cut if it is long.
	Text string `json:"text"`
}
