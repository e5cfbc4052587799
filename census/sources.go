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

// Source describes what was read from one source. Each collection of an archive has its own
// Source.
type Source struct {
	// Name is the name that was given to [Census.Read].
	Name string
	// Collection is the name of the collection. It is empty if the source names none. In an
	// archive it includes the database.
	Collection string
	// Collections is the number of collections of an archive, and 0 for other sources.
	// The sources of these collections follow this one.
	Collections int
	// Format is the format of the source, or "auto" if it was not recognized.
	Format Format
	// Unit is what positions count: "document", "line" or "row". It is empty if the
	// format was not recognized.
	Unit string
	// Units is the number of documents, lines or rows that were read. The row with the names
	// of the columns does not count, but in positions it is row 1.
	Units int64
	// IDs is the number of ids in [Options].Range. They are ObjectIds. If the collection has
	// none, they are strings of 24 hexadecimal digits.
	IDs int64
	// Others is the number of values that are not ObjectIds. It includes strings of 24
	// hexadecimal digits, even if IDs counts them.
	Others int64
	// Without is the number of documents or rows that lack the field.
	Without int64
	// Broken is the number of documents, lines or rows that could not be read and were
	// skipped. Problems describe the first ten of them.
	Broken   int64
	Problems []Problem
	// Error says why and where reading stopped before the end of the source. It is empty
	// if the source was read to its end.
	Error string

	repeats    bool // whether the values may occur several times
	collection *collection
	found      [2]int64         // ObjectIds, and strings of 24 hexadecimal digits
	others     map[string]int64 // by type
	samples    map[string][]Value
	parts      map[string]*Source      // collections of an archive
	places     map[string]source.Found // fields with ids in the first documents without ids
	looked     int64                   // how many of these documents there are
	first      string                  // describes the first of them
}

// Position is the position of a document, line or row in a source.
type Position struct {
	Source     string // the name of the source
	Collection string // empty if the source names none
	// Unit is what Number counts: "document", "line" or "row". The first is number 1.
	Unit   string
	Number int64
}

// Problem is a document, line or row that could not be read.
type Problem struct {
	Position Position
	Error    string
}

// Value is an example of a value that is not an id.
type Value struct {
	Position Position
	// Text is the value as text, cut if it is long.
	Text string
}

// Other counts the values of one type that is not ObjectId.
type Other struct {
	// Type is MongoDB's alias of the BSON type, such as "int", or one of these: "uuid" for
	// a UUID in binary data, "hex-string" for a string of 24 hexadecimal digits,
	// "objectid-time" for {timestamp, date}, as which Java writes an ObjectId without its other
	// bytes, "text" in formats without types.
	Type     string
	Count    int64
	Examples []Value
}

// otherValues describes the values of sources that are not counted as ids.
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

// Broken reports whether a source was not read to its end, or whether documents, lines or
// rows were skipped because they could not be read.
func (r *Report) Broken() bool {
	return slices.ContainsFunc(r.Sources, func(s *Source) bool { return s.Error != "" || s.Broken > 0 })
}

// String returns "orders.json: line 7", or "dump shop.orders: document 7" with a collection.
func (p Position) String() string {
	return fmt.Sprintf("%s: %s %d", strings.TrimSpace(p.Source+" "+p.Collection), p.Unit, p.Number)
}

// collection has the ids of one collection, which are analysed together. All sources that
// do not name a collection belong to one.
type collection struct {
	name    string // with its database, or empty
	sources []*Source
	found   [2]foundIDs // ObjectIds, and strings of 24 hexadecimal digits
}

// foundIDs are ids of one type in a collection.
type foundIDs struct {
	ids     *idset.Set
	taken   int64 // ids inside the range
	outside int64 // ids outside the range

	seconds // of all ids
}

func newCollection(name string, sp *idset.Space) *collection {
	l := &collection{name: name}
	for k := range l.found {
		l.found[k] = foundIDs{ids: sp.NewSet(), seconds: noTimes()}
	}
	return l
}

// collection returns the collection with the given name. It adds a new one.
func (c *Census) collection(name string) *collection {
	if i := slices.IndexFunc(c.collections, func(l *collection) bool { return l.name == name }); i >= 0 {
		return c.collections[i]
	}
	l := newCollection(name, &c.space)
	c.collections = append(c.collections, l)
	return l
}

// hexStrings is the index of strings in arrays for two types of ids; ObjectIds have index 0.
const hexStrings = 1

// judged returns the ids of l that are analysed, and the index of their type: the ObjectIds
// or, if there are none, the strings. If no id of either type is in the range, the ids
// outside decide.
func (l *collection) judged() (judged *foundIDs, which int) {
	if o, s := &l.found[0], &l.found[hexStrings]; o.taken == 0 && (s.taken > 0 || o.outside == 0 && s.outside > 0) {
		return s, hexStrings
	}
	return &l.found[0], 0
}

// unique reports whether each id should occur only once. That holds for an _id in
// documents, but not for other fields and not for ids found in a text.
func (l *collection) unique(field string) bool {
	return field == "_id" && !slices.ContainsFunc(l.sources, func(s *Source) bool { return s.Format == FormatGrep || s.repeats })
}

// secondRange is the seconds from first to last, both included. It is empty if first is
// above last.
type secondRange struct{ first, last uint32 }

// noSeconds is the empty range, to which seconds can be added.
var noSeconds = secondRange{math.MaxUint32, 0}

func (r *secondRange) add(second uint32) {
	r.first, r.last = min(r.first, second), max(r.last, second)
}

func (r *secondRange) merge(other secondRange) {
	r.first, r.last = min(r.first, other.first), max(r.last, other.last)
}

func (r secondRange) empty() bool { return r.first > r.last }

const secondsPerDay = 24 * 60 * 60

// earliest is the first second that a plausible id may have: the start of 2009.
var earliest = uint32(era.First.Unix())
