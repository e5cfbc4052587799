package census

import (
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/objectid"
)

// Difference is the result of [Compare].
type Difference struct {
	// Field is the document field whose values were compared: [Options].Field of the first
	// census.
	Field string
	// A describes the first census that was given to Compare, and B the second.
	A Side
	B Side
	// Both is the number of ids that are in both censuses. An id that occurs several times
	// counts once.
	Both int64
	// Retyped is the number of ids that one census has only as ObjectIds and the other only as
	// strings of the same digits. They are different values: Both does not count them.
	Retyped int64
}

// Side is one of the two censuses in a [Difference].
type Side struct {
	Sources []*Source
	// Distinct is the number of different ids in this census.
	Distinct int64
	// Only is the number of different ids that only this census contains. First and Last
	// are their earliest and latest creation times, nil if there are none; Examples are
	// a few of them.
	Only     int64
	First    *time.Time
	Last     *time.Time
	Examples []Example
	// Others is the number of values that were not compared because they are not ids.
	Others int64
	// Unjudged says why the census has no ids, see [Report].Unjudged.
	Unjudged *Unjudged

	census *Census
}

// Compare finds the ids that only one of two censuses contains, for example to compare a
// dump with its collection. If only is not nil, Compare calls it with each id that it finds.
// The argument inA is true if a contains the id, and false if b does; isString is true if the id
// is stored as a string of its digits. The calls are in the order of process value, time and
// counter within the ObjectIds and the strings of each collection. If only returns an error, Compare
// stops and returns an error that wraps it.
//
// Collections are compared with each other if they have the same name. If each census has
// only one collection, their names do not matter. A collection without a counterpart is
// compared with an empty one.
//
// An ObjectId and a string of the same digits are different values, and [Difference].Retyped
// counts them. Formats without types are the exception: an id in a list, in CSV, in a table or
// in other text is equal to both. All other values are only counted, in [Side].Others.
func Compare(a, b *Census, only func(inA bool, id objectid.ID, isString bool) error) (*Difference, error) {
	if err := errors.Join(a.settle(), b.settle()); err != nil {
		return nil, err
	}
	d := &Difference{Field: a.options.Field, A: newSide(a), B: newSide(b)}
	for _, pair := range pairs(a, b) {
		if err := d.compare(pair, only); err != nil {
			return nil, err
		}
	}
	d.A.Distinct, d.B.Distinct = d.Both+d.A.Only, d.Both+d.B.Only
	return d, nil
}

// pairs returns the collections of a and b to compare with each other: those with equal
// names. If each side has only one, these two are compared whatever their names are.
func pairs(a, b *Census) (out [][2]*collection) {
	inA, inB := a.used(), b.used()
	single := len(inA) == 1 && len(inB) == 1
	for _, l := range inA {
		i := slices.IndexFunc(inB, func(m *collection) bool { return single || m.name == l.name })
		if i < 0 {
			out = append(out, [2]*collection{l, newCollection(l.name, new(idset.Space))})
			continue
		}
		out = append(out, [2]*collection{l, inB[i]})
		inB = slices.Delete(inB, i, i+1)
	}
	for _, l := range inB {
		out = append(out, [2]*collection{newCollection(l.name, new(idset.Space)), l})
	}
	return out
}

// compare compares one collection of both sides.
func (d *Difference) compare(pair [2]*collection, only func(inA bool, id objectid.ID, isString bool) error) error {
	if pair[0].typed() && pair[1].typed() {
		for k := range pair[0].found {
			if err := d.merge(&pair[0].found[k], &pair[1].found[k], k == hexStrings, only); err != nil {
				return err
			}
		}
		return d.retyped(pair)
	}
	x, _ := pair[0].judged()
	y, _ := pair[1].judged()
	return d.merge(x, y, false, only)
}

// retyped counts the ids that one side has only as ObjectIds and the other only as strings.
func (d *Difference) retyped(pair [2]*collection) error {
	var failed error
	only := func(k int, inA bool) iter.Seq[idset.Record] {
		return func(yield func(idset.Record) bool) {
			x, y := pair[0].found[k].ids.Distinct(&failed), pair[1].found[k].ids.Distinct(&failed)
			_, err := idset.Merge(x, y, func(in bool, r idset.Record) error {
				if in == inA && !yield(r) {
					return io.EOF
				}
				return nil
			})
			if !errors.Is(err, io.EOF) {
				failed = errors.Join(failed, err)
			}
		}
	}
	for k := range pair[0].found {
		if pair[0].found[k].taken == 0 || pair[1].found[1-k].taken == 0 {
			continue
		}
		n, err := idset.Merge(only(k, true), only(1-k, false), func(bool, idset.Record) error { return nil })
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		d.Retyped += n
	}
	return nil
}

// merge compares ids of one type.
func (d *Difference) merge(x, y *foundIDs, isString bool, only func(inA bool, id objectid.ID, isString bool) error) error {
	var failed error
	both, err := idset.Merge(x.ids.Distinct(&failed), y.ids.Distinct(&failed), func(inA bool, r idset.Record) error {
		s, note := &d.B, ""
		if inA {
			s = &d.A
		}
		if isString {
			note = "a string"
		}
		s.only(r, note)
		if only != nil {
			return only(inA, r.ID(), isString)
		}
		return nil
	})
	d.Both += both
	return errors.Join(err, failed)
}

// typed reports whether l has sources of a format with types.
func (l *collection) typed() bool {
	return slices.ContainsFunc(l.sources, func(s *Source) bool {
		return s.Units > 0 && !slices.Contains([]Format{FormatCSV, FormatList, FormatGrep, FormatTable}, s.Format)
	})
}

func newSide(c *Census) Side {
	s := Side{Sources: c.sources, Unjudged: c.unjudged(c.sources), census: c}
	for _, o := range otherValues(c.sources) {
		if o.Type != source.HexString {
			s.Others += o.Count
		}
	}
	return s
}

func (s *Side) only(r idset.Record, note string) {
	s.Only++
	t := moment(r.Second())
	if s.First == nil || t.Before(*s.First) {
		s.First = &t
	}
	if s.Last == nil || t.After(*s.Last) {
		s.Last = &t
	}
	if len(s.Examples) < maxExamples {
		s.Examples = append(s.Examples, s.census.example(r, note))
	}
}

// Broken reports whether a part of either census could not be read; see [Report.Broken].
func (d *Difference) Broken() bool {
	return (&Report{Sources: d.A.Sources}).Broken() || (&Report{Sources: d.B.Sources}).Broken()
}
