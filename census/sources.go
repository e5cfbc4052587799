package census

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oidkit/oid/census/source"
)

// Source is what was read from one source, or from one collection of an archive. The tags
// are those of a saved census.
type Source struct {
	// Name is the name that was given to [Census.Read].
	Name string `json:"name"`
	// Collection is the collection of an archive, with its database, or empty.
	Collection string `json:"collection,omitempty"`
	// Collections is how many collections of this archive are separate sources,
	// which follow.
	Collections int `json:"collections,omitempty"`
	// Format is the format in which the source was read; "auto" if none was
	// detected.
	Format source.Format `json:"format"`
	// Unit is what positions count: document, line or row.
	Unit string `json:"unit"`
	// Units is how many of them there were.
	Units int64 `json:"units"`
	// IDs is how many ObjectIds were found within the range; in a [Report], ids that
	// are strings where [Report].Strings says so.
	IDs int64 `json:"-"`
	// Others is how many values were of another type.
	Others int64 `json:"-"`
	// Without is how many documents or rows lack the field.
	Without int64 `json:"without,omitempty"`
	// Broken is how many documents or lines could not be read and were skipped,
	// and Problems are the errors of the first of them.
	Broken   int64     `json:"broken,omitempty"`
	Problems []Problem `json:"-"`
	// Error is where reading stopped before the source's end, and why. It is empty
	// for a source that was read to its end.
	Error string `json:"error,omitempty"`

	number     int
	collection *collection
	objectIDs  int64
	stringIDs  int64    // strings of 24 hexadecimal digits
	youngest   youngest // plausible seconds so far
	others     [source.TypeCount]int64
	samples    [source.TypeCount][]Value
	parts      map[string]*Source // collections of an archive
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

// Other is a type of value that is not an ObjectId.
type Other struct {
	// Type is MongoDB's name of the BSON type; "uuid" for binary data that is
	// one, "hex-string" for a string of 24 hexadecimal digits, and "text" where
	// the format knows no types.
	Type     string
	Count    int64
	Examples []Value
}

// otherValues returns the values of sources that are not counted as ids.
func otherValues(sources []*Source) (out []Other) {
	for k := range source.TypeCount {
		other := Other{Type: k.String()}
		for _, s := range sources {
			if _, areStrings := s.collection.judged(); areStrings && k == source.HexString {
				continue
			}
			other.Count += s.others[k]
			if room := source.MaxSamples - len(other.Examples); room > 0 {
				other.Examples = append(other.Examples, s.samples[k][:min(room, len(s.samples[k]))]...)
			}
		}
		if other.Count > 0 {
			out = append(out, other)
		}
	}
	slices.SortStableFunc(out, func(a, b Other) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// Broken reports whether something could not be read: a source that was not read
// to its end, or documents or lines that were skipped.
func (r *Report) Broken() bool {
	return slices.ContainsFunc(r.Sources, func(s *Source) bool { return s.Error != "" || s.Broken > 0 })
}

// String returns "source: line 7", with the collection if there is one.
func (p Position) String() string {
	return fmt.Sprintf("%s: %s %d", strings.TrimSpace(p.Source+" "+p.Collection), p.Unit, p.Number)
}
