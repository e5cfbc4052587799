package census

import (
	"math"
	"slices"
	"sort"
)

// verdict is what the stretches of a process value show. Bits of evidence are what
// chance would have to explain: n bits happen by chance once in 2^n process values.
type verdict struct {
	shared   evidence // several processes used the value at the same time
	stepped  evidence // the clock was set backwards
	resumed  evidence // a saved state of the process was resumed later
	gaps     int64
	restarts int64
	lives    []life // the runs of the process, up to maxRuns
}

// evidence is how sure a verdict is, with ids that show it.
type evidence struct {
	bits     int
	examples []record // by time
}

// maxBits is the evidence of what chance cannot explain.
const maxBits = 64

// add keeps the strongest evidence, and the examples of all of it.
func (v *evidence) add(bits float64, value uint64, examples ...record) {
	v.bits = max(v.bits, int(min(bits, maxBits)))
	for _, r := range examples {
		if len(v.examples) < maxExamples {
			v.examples = append(v.examples, byTime(r, value))
		}
	}
}

// bitsOf returns the bits of evidence of something that has the given chance.
func bitsOf(chance float64) float64 { return -math.Log2(max(chance, math.SmallestNonzeroFloat64)) }

// pair is two stretches of which the first one was in use before and after the second
// began.
type pair struct{ a, b int }

// overlapping returns these pairs, up to a number that bounds the time.
func (ss *stretches) overlapping() (out []pair) {
	var active []int
	for b := range ss.list { // their first seconds rise
		active = slices.DeleteFunc(active, func(a int) bool { return int64(ss.list[a].last)-int64(ss.list[b].first) < minStep })
		for _, a := range active {
			if len(out) < maxPairs {
				out = append(out, pair{a, b})
			}
		}
		active = append(active, b)
	}
	return out
}

// turnBits returns the evidence of the turns that two stretches took, less what
// choosing these among all breaks gives away, and how often ids came back to each.
func (ss *stretches) turnBits(p pair) (bits float64, toA, toB int64) {
	a, b := ss.turns[p], ss.turns[pair{p.b, p.a}]
	k, n := float64(ss.total.count), float64(ss.total.count)+float64(len(ss.list))-1
	share := k / n
	entropy := 0.
	if share > 0 && share < 1 {
		entropy = -share*math.Log2(share) - (1-share)*math.Log2(1-share)
	}
	mine := float64(a.count+b.count) / max(k, 1)
	return a.bits + b.bits - mine*n*entropy - 2*math.Log2(float64(len(ss.list))), a.count, b.count
}

// unite makes stretches that were in use at the same time, with counters that overlap
// or adjoin, one group, whose ids are then looked at in the order of the counter.
func (ss *stretches) unite(pairs []pair) {
	count := float64(len(ss.list))
	for _, p := range pairs {
		a, b := &ss.list[p.a], &ss.list[p.b]
		shift, ok := ss.adjoin(a, b)
		if !ok || a.group == b.group {
			continue
		}
		chance := count * count * float64(ss.limit+a.length()+b.length()) / counterRange
		if b.nearest == p.a {
			chance = min(chance, count*count*2*float64(b.distance+1)/counterRange)
		}
		if bits, _, _ := ss.turnBits(p); bitsOf(chance) < proofBits && bits < proofBits {
			continue
		}
		// The counters of b become those of a's group.
		from, to, by := b.group, a.group, a.shift+shift-b.shift
		for i := range ss.list {
			if ss.list[i].group == from {
				ss.list[i].group = to
				ss.list[i].shift += by
			}
		}
	}
}

// adjoin returns by how much the counters of b move to overlap those of a or to adjoin
// them.
func (ss *stretches) adjoin(a, b *stretch) (shift int64, ok bool) {
	if ahead := (b.from - a.at) & counterMask; ahead <= ss.limit {
		return a.at + ahead - b.from, true
	}
	if ahead := (a.from - b.at) & counterMask; ahead <= ss.limit {
		return a.from - ahead - b.at, true
	}
	if a.length() >= counterRange || b.length() >= counterRange {
		return 0, false
	}
	if inside := (b.from - a.from) & counterMask; inside <= a.length() {
		return a.from + inside - b.from, true
	}
	if inside := (a.from - b.from) & counterMask; inside <= b.length() {
		return a.from - inside - b.from, true
	}
	return 0, false
}

// link is a stretch whose counter goes on in ids that are earlier in time: a clock was
// set backwards between them.
type link struct {
	stretch  int     // the one before the step
	next     record  // the id after it
	ahead    int64   // from the end of the stretch to next
	behind   int64   // from what it continues itself; 0 if that is not known
	chance   float64 // of the step alone
	both     float64 // of the step and of what it continues
	previous int     // the stretch that it continues, or -1
	before   record  // the last id before the step, where that is not the stretch's end
}

const unlikely = 1. / 64 // what has a higher chance is not added to other evidence

// links returns the stretches that end where earlier ids begin, with the chance of that.
func (ss *stretches) links() (out []link) {
	n := len(ss.list)
	count := float64(n)
	byStart, byEnd := make([]int, n), make([]int, n)
	for i := range n {
		byStart[i], byEnd[i] = i, i
	}
	start := func(i int) int64 { return ss.list[i].from & counterMask }
	end := func(i int) int64 { return ss.list[i].at & counterMask }
	slices.SortFunc(byStart, func(a, b int) int { return int(start(a) - start(b)) })
	slices.SortFunc(byEnd, func(a, b int) int { return int(end(a) - end(b)) })
	ss.trimHoles()
	for i := range ss.list {
		s := &ss.list[i]
		best := link{chance: 1, both: 1}
		// The nearest start of another one above the end, and the one below: threads that
		// were overtaken let the two overlap.
		at := sort.Search(n, func(k int) bool { return start(byStart[k]) > end(i) })
		for _, direction := range [2]int{1, -1} {
			k := at
			if direction < 0 {
				k = at - 1
			}
			next := byStart[(k+n)%n]
			if next == i {
				next = byStart[(k+direction+n)%n]
			}
			l := link{stretch: i, next: ss.list[next].start, ahead: signed(start(next) - end(i)), previous: -1}
			after := &ss.list[next]
			if next == i || after.first+minStep > s.last || after.group == s.group || -l.ahead >= min(staleIDs, s.length()/2, after.length()/2) && l.ahead < 0 {
				continue
			}
			l.chance = count * (count - 1) / 2 * float64(max(l.ahead, 1-l.ahead)) / counterRange
			l.both, l.before = l.chance, s.end
			if p := ss.continued(byEnd, i, next); p >= 0 && l.chance < unlikely {
				behind := (start(i) - end(p)) & counterMask
				if chance := count * count * float64(behind) / counterRange; chance < unlikely {
					l.previous, l.behind = p, behind
					l.both *= chance
				}
			}
			if l.both < best.both {
				best = l
			}
		}
		if l := ss.fits(i); l.both < best.both {
			best = l
		}
		if best.chance < 1 {
			out = append(out, best)
		}
	}
	return out
}

// signed returns the shortest move between two counters whose difference is d.
func signed(d int64) int64 {
	d &= counterMask
	if d >= counterRange/2 {
		d -= counterRange
	}
	return d
}

// continued returns the stretch that ended last below the start of stretch i, if it
// ended before that began, or -1.
func (ss *stretches) continued(byEnd []int, i, next int) int {
	n := len(byEnd)
	start := ss.list[i].from & counterMask
	at := sort.Search(n, func(k int) bool { return ss.list[byEnd[k]].at&counterMask >= start })
	for k := range min(n, 3) {
		p := byEnd[(at-1-k+2*n)%n]
		if p == i {
			continue
		}
		if ss.list[p].last <= ss.list[i].first && p != next {
			return p
		}
		return -1
	}
	return -1
}

// fits returns the link of stretch i to the ids around a hole of another stretch that
// its counters fit into: its clock was ahead, or behind, for a while.
func (ss *stretches) fits(i int) link {
	s := &ss.list[i]
	best := link{chance: 1, both: 1}
	longer := sort.Search(len(ss.holes), func(k int) bool { return ss.holes[k].length <= s.length()/2 })
	for _, h := range ss.holes[:longer] {
		behind := signed(s.from - h.from)
		ahead := h.length - behind - s.length()
		if h.stretch == i || min(behind, ahead) <= -min(staleIDs, s.length()/2) || behind > h.length || ss.list[h.stretch].group == s.group {
			continue
		}
		around := max(behind, 1-behind) + max(ahead, 1-ahead)
		chance := float64(len(ss.list)-1) * float64(longer+1) * float64(around) / counterRange
		l := link{i, h.next, ahead, behind, chance, chance, h.stretch, s.end}
		switch late := int64(h.before.secondByCounter()) - int64(s.first); {
		case s.last >= h.next.secondByCounter()+minStep: // ahead
		case late >= certainStep, late >= minStep && s.ids >= minBehind:
			l.next, l.before = s.start, h.before
		default:
			continue
		}
		if chance < best.chance {
			best = l
		}
	}
	return best
}
