package census

import (
	"math"
	"slices"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/internal/era"
)

// collection is what a census knows about one collection, the unit that is judged.
// Sources without a collection's name are one collection together.
type collection struct {
	name    string // with its database, or empty
	sources []*Source
	space   *idset.Space
	ids     *idset.Set

	// hexStrings are the ids among the values that are strings. They are judged where
	// there are no ObjectIds. It is nil where there are none.
	hexStrings *collection
	taken      int64 // ids inside the range
	outside    int64 // ids outside the range

	// All ids, and the plausible ones: neither before 2009 nor in the future, no
	// bounds. The first second is above the last where there are none.
	all, plausible secondRange
	days           map[uint32]int64 // plausible ids by day since 1970
	late           lateIDs
}

func newCollection(name string, sp *idset.Space) *collection {
	return &collection{name: name, space: sp, ids: sp.NewSet(), all: noSeconds, plausible: noSeconds, days: map[uint32]int64{}}
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

// strings returns the collection of the ids that are strings.
func (l *collection) strings() *collection {
	if l.hexStrings == nil {
		l.hexStrings = newCollection(l.name, l.space)
	}
	return l.hexStrings
}

// judged returns what is judged of l: its ObjectIds or, if there are none, its ids
// that are strings. Where none of either is in the range, those outside decide.
func (l *collection) judged() (judged *collection, areStrings bool) {
	if s := l.hexStrings; l.taken == 0 && s != nil && (s.taken > 0 || l.outside == 0) {
		s.sources = l.sources
		return s, true
	}
	return l, false
}

// unique reports whether an id should be there once only: as an _id, but not as
// a reference to one, or in a text.
func (l *collection) unique(field string) bool {
	return field == "_id" && !slices.ContainsFunc(l.sources, func(s *Source) bool { return s.Format == source.Grep })
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

// lateIDs counts the ids that come after several others that are more than lateAfter
// seconds younger. The tags are those of a saved census.
type lateIDs struct {
	sighting
	Most   uint32       `json:"most,omitempty"` // seconds that one was late
	Latest idset.Record `json:"latest"`
}

func (l *lateIDs) add(r idset.Record, by uint32) {
	l.sighting.add(1, r)
	if by > l.Most {
		l.Most, l.Latest = by, r
	}
}

// youngest keeps the youngest seconds of a source so far, the youngest last.
type youngest [minYoungerBefore]uint32

// add takes the next second.
func (y *youngest) add(s uint32) {
	if s <= y[0] {
		return
	}
	i := 1
	for i < minYoungerBefore && y[i] < s {
		y[i-1] = y[i]
		i++
	}
	y[i-1] = s
}

// lateBy returns by how many seconds all of them are younger than s, or 0.
func (y *youngest) lateBy(s uint32) uint32 { return max(y[0], s) - s }
