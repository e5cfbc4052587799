package census

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/internal/phrase"
)

// Some ids have the form of ObjectIds but hold no creation time: ids that are random from end to
// end, parts of hashes, and ids written by hand. Their first four bytes are any number, so their
// times are spread over the 136 years from 1970 to 2106. Wrong clocks look different: they show
// few times, such as 1970 or 2036.
//
// A lone id is the only one with its process value. An impossible time is before 2009 or in the
// future. A census looks at the lone ids with impossible times. Three answers are possible:
//
//	they hold no time  their times fall into so many half-years that wrong clocks, which are
//	                   rare, cause it in less than one of 2^proofBits collections, and the times
//	                   span more than 68 years
//	cannot be told     the same, but chance causes it in one of 2^doubtBits collections, or the
//	                   times span fewer years
//	wrong clocks       everything else, for example if most of the times are in one half-year
//
// If the lone ids with possible times are no more than random numbers explain, and as spread, they
// hold no time either. Otherwise the census cannot tell which ones are random, and judges all of
// them.

// scan is the result of the pass over the ids that looks for ids without a time.
type scan struct {
	latest uint32

	possible, impossible halfYears   // lone ids, by what their times are
	span                 secondRange // the impossible times
	others               int64       // ids that are not lone

	loneTimes, otherTimes seconds // possible times of lone ids, and all times of other ids
}

// halfYears counts ids by the first byte of their time, which changes every 194 days.
type halfYears [1 << 8]int64

func (h *halfYears) merge(other *halfYears) {
	for i, n := range other {
		h[i] += n
	}
}

// sum returns how many ids are in the given number of half-years, and how many of them are
// spread: it counts at most twice the mean for each half-year.
func (h *halfYears) sum(of int64) (n, spread int64) {
	for _, k := range h {
		n += k
	}
	most := (2*n + of - 1) / of
	for _, k := range h {
		spread += min(k, most)
	}
	return n, spread
}

// seconds are the times of some ids. The plausible ones are neither from before 2009, nor from
// the future, nor those of bounds. Those of electionIds are left out.
type seconds struct {
	all, plausible secondRange
	days           map[uint32]int64 // plausible ids by day since 1970
}

func noTimes() seconds { return seconds{noSeconds, noSeconds, map[uint32]int64{}} }

func (s *seconds) merge(other *seconds) {
	s.all.merge(other.all)
	s.plausible.merge(other.plausible)
	for day, n := range other.days {
		s.days[day] += n
	}
}

// leftOut says which ids hold no time.
type leftOut int

const (
	leaveNone       leftOut = iota
	leaveImpossible         // lone ids with impossible times
	leaveLone               // all lone ids
	leaveAll                // all ids
)

// minImpossible is the least number of impossible times that are worth a pass over the ids.
const minImpossible = 2

// scanIDs looks for ids without a time in l. It returns nil if there are none.
func (l *foundIDs) scanIDs(o *Options) (*scan, error) {
	impossible := l.taken
	for _, n := range l.days {
		impossible -= n
	}
	if impossible < minImpossible {
		return nil, nil
	}
	var parts []*scan
	err := l.ids.Visit(o.Workers, func() idset.Visitor {
		s := &scan{latest: latestSecond(o.Now), span: noSeconds, loneTimes: noTimes(), otherTimes: noTimes()}
		parts = append(parts, s)
		return s.visit
	})
	all := parts[0]
	for _, s := range parts[1:] {
		all.possible.merge(&s.possible)
		all.impossible.merge(&s.impossible)
		all.span.merge(s.span)
		all.others += s.others
		all.loneTimes.merge(&s.loneTimes)
		all.otherTimes.merge(&s.otherTimes)
	}
	return all, err
}

// visit is an idset.Visitor.
func (s *scan) visit(e idset.Extent) {
	for r := range e.Distinct() {
		second := r.Second()
		switch isPossible := possible(second, s.latest); {
		case lacksTime(r):
		case !lone(e):
			s.others++
			s.otherTimes.add(second, isPossible)
		case isPossible:
			s.possible[second>>24]++
			s.loneTimes.add(second, true)
		default:
			s.impossible[second>>24]++
			s.span.add(second)
		}
	}
}

// possible reports whether second is neither before 2009 nor in the future.
func possible(second, latest uint32) bool { return second >= earliest && second <= latest }

func (s *seconds) add(second uint32, isPossible bool) {
	s.all.add(second)
	if isPossible {
		s.plausible.add(second)
		s.days[second/secondsPerDay]++
	}
}

// times returns the times of the ids that hold one.
func (s *scan) times(left leftOut) seconds {
	times := noTimes()
	if left < leaveAll {
		times.merge(&s.otherTimes)
	}
	if left < leaveLone {
		times.merge(&s.loneTimes)
	}
	return times
}

// lone reports whether e has one id, once or several times. e must be sorted and not empty.
func lone(e idset.Extent) bool { return e.At(0).SameID(*e.At(e.Len() - 1)) }

// clockBits is the evidence of one impossible time, in bits: of the processes with a clock of
// their own, less than one of 2^clockBits has a clock that is wrong by years, at a time that no
// other wrong clock shows.
const clockBits = 6

// judge returns which ids hold no time. isDoubtful is true if it cannot be told.
func (s *scan) judge() (left leftOut, isDoubtful bool) {
	impossible, spread := s.impossible.sum(int64(len(s.impossible)))
	possible, possibleSpread := s.possible.sum(int64(s.latest>>24-earliest>>24) + 1)
	lone := float64(possible + impossible)
	var clocks pool
	clocks.add(clockBits, spread)
	switch bits := clocks.bits(lone); {
	case spread < minImpossible || 2*spread < impossible || bits < doubtBits:
		return leaveNone, false
	case bits < proofBits || s.span.last-s.span.first < 1<<31:
		return leaveNone, true
	case float64(possible) > atMost(s.random()) || 2*possibleSpread < possible:
		return leaveImpossible, false
	case float64(s.others) > 2*atMost(lone*lone/(1<<41)): // more than pairs of equal random process values
		return leaveLone, false
	}
	return leaveAll, false
}

// random estimates how many of the lone ids with possible times are random, from the number of
// those with impossible times.
func (s *scan) random() float64 {
	impossible, _ := s.impossible.sum(1)
	share := float64(s.latest-earliest+1) / (1 << 32) // of random times that are possible
	return float64(impossible) * share / (1 - share)
}

// atMost returns how many events rarely are exceeded if the mean is n.
func atMost(n float64) float64 { return n + 3*math.Sqrt(n) }

// evidence is a sentence with the numbers of judge.
func (s *scan) evidence(left leftOut) string {
	possible, _ := s.possible.sum(1)
	impossible, _ := s.impossible.sum(1)
	text := fmt.Sprintf("%s a process value that no other id has; the times of %s are before 2009 or in the future.",
		phrase.Count(possible+impossible, "id has", "ids have"), humanize.Comma(impossible))
	if left == leaveImpossible {
		text += fmt.Sprintf(" About %s of the others are random as well, but it cannot be told which.", humanize.Comma(int64(math.Ceil(s.random()))))
	}
	return text
}

// leavesOut reports whether the ids of one process value hold no time.
func (t *tally) leavesOut(e idset.Extent) bool {
	switch t.left {
	case leaveNone, leaveAll:
		return t.left == leaveAll
	case leaveImpossible:
		return lone(e) && !possible(e.At(0).Second(), t.latest)
	}
	return lone(e)
}

// Elections are electionIds: the primary of a replica set has an id of the form of an
// ObjectId that holds the number of its election in place of a time.
type Elections struct {
	IDs   int64  // how many
	First uint32 // the lowest number of an election
	Last  uint32 // the highest one
}

func (e *Elections) add(other Elections) {
	if other.IDs > 0 && (e.IDs == 0 || other.First < e.First) {
		e.First = other.First
	}
	e.IDs, e.Last = e.IDs+other.IDs, max(e.Last, other.Last)
}

// electionSecond is the time of all electionIds, see [era.Election].
const electionSecond = math.MaxInt32

// election returns the term of an electionId.
func election(r idset.Record) (term uint32, ok bool) {
	if r.Second() != electionSecond {
		return 0, false
	}
	return era.Election(r.ID())
}

// lacksTime reports whether r is a bound or an electionId.
func lacksTime(r idset.Record) bool {
	_, isElection := election(r)
	return isElection || r.IsBound()
}

// sightTimeless counts r if it holds no time. isLeftOut says whether its process value is left
// out.
func (t *tally) sightTimeless(r idset.Record, isLeftOut bool) bool {
	term, isElection := election(r)
	switch {
	case isElection:
		t.elections.add(Elections{1, term, term})
	case r.IsBound():
		t.bounds.add(1, r)
	case isLeftOut:
		t.timeless.add(1, r)
	default:
		return false
	}
	return true
}
