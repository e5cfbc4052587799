package census

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/era"
)

// Source is what was read from one source, or from one collection of an archive.
type Source struct {
	// Name is the name that was given to [Census.Read].
	Name string
	// Collection is the collection of an archive, with its database, or empty.
	Collection string
	// Collections is how many collections of this archive are separate sources,
	// which follow.
	Collections int
	// Format is the format in which the source was read; "auto" if none was
	// detected.
	Format Format
	// Unit is what positions count: document, line or row.
	Unit string
	// Units is how many of them there were.
	Units int64
	// IDs is how many ObjectIds were found within the range; in a [Report], ids that
	// are strings where [Report].Strings says so.
	IDs int64
	// Others is how many values were of another type.
	Others int64
	// Without is how many documents or rows lack the field.
	Without int64
	// Broken is how many documents or lines could not be read and were skipped,
	// and Problems are the errors of the first of them.
	Broken   int64
	Problems []Problem
	// Error is where reading stopped before the source's end, and why. It is empty
	// for a source that was read to its end.
	Error string

	collection *collection
	found      [2]int64         // ObjectIds, and strings of 24 hexadecimal digits
	others     map[string]int64 // by type
	samples    map[string][]Value
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
	for _, s := range sources {
		_, which := s.collection.judged()
		for _, t := range slices.Sorted(maps.Keys(s.others)) {
			if which == hexStrings && t == source.HexString {
				continue
			}
			i := slices.IndexFunc(out, func(o Other) bool { return o.Type == t })
			if i < 0 {
				i, out = len(out), append(out, Other{Type: t})
			}
			o := &out[i]
			o.Count += s.others[t]
			o.Examples = append(o.Examples, s.samples[t][:min(source.MaxSamples-len(o.Examples), len(s.samples[t]))]...)
		}
	}
	slices.SortStableFunc(out, func(a, b Other) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type)) })
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

// collection is what a census knows about one collection, the unit that is judged.
// Sources without a collection's name are one collection together.
type collection struct {
	name    string // with its database, or empty
	sources []*Source
	found   [2]foundIDs // ObjectIds, and those among the values that are strings
}

// foundIDs are ids of one type in a collection.
type foundIDs struct {
	ids     *idset.Set
	taken   int64 // ids inside the range
	outside int64 // ids outside the range

	// All ids, and the plausible ones: neither before 2009 nor in the future, no
	// bounds. The first second is above the last where there are none.
	all, plausible secondRange
	days           map[uint32]int64 // plausible ids by day since 1970
}

func newCollection(name string, sp *idset.Space) *collection {
	l := &collection{name: name}
	for k := range l.found {
		l.found[k] = foundIDs{ids: sp.NewSet(), all: noSeconds, plausible: noSeconds, days: map[uint32]int64{}}
	}
	return l
}

// collection returns the collection with the given name, which it adds if it is new.
func (c *Census) collection(name string) *collection {
	if i := slices.IndexFunc(c.collections, func(l *collection) bool { return l.name == name }); i >= 0 {
		return c.collections[i]
	}
	l := newCollection(name, &c.space)
	c.collections = append(c.collections, l)
	return l
}

// hexStrings is the index of strings in what has two types of ids.
const hexStrings = 1

// judged returns what is judged of l, and which of its types that is: its ObjectIds or, if
// there are none, its ids that are strings. Where none of either is in the range, those
// outside decide.
func (l *collection) judged() (judged *foundIDs, which int) {
	if o, s := &l.found[0], &l.found[hexStrings]; o.taken == 0 && (s.taken > 0 || o.outside == 0 && s.outside > 0) {
		return s, hexStrings
	}
	return &l.found[0], 0
}

// unique reports whether an id should be there once only: as an _id, but not as
// a reference to one, or in a text.
func (l *collection) unique(field string) bool {
	return field == "_id" && !slices.ContainsFunc(l.sources, func(s *Source) bool { return s.Format == FormatGrep })
}

// secondRange is a first and a last second.
type secondRange struct{ first, last uint32 }

// noSeconds is the range of no ids.
var noSeconds = secondRange{math.MaxUint32, 0}

func (r *secondRange) add(second uint32) {
	r.first, r.last = min(r.first, second), max(r.last, second)
}

func (r *secondRange) merge(other secondRange) {
	r.first, r.last = min(r.first, other.first), max(r.last, other.last)
}

func (r secondRange) empty() bool { return r.first > r.last }

const secondsPerDay = 24 * 60 * 60

// earliest is the first second of a plausible id.
var earliest = uint32(era.First.Unix())
