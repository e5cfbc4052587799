package census

import (
	"cmp"
	"math"
	"slices"
)

// judge finds out what the records of a process value show that are not simply those of
// one process whose clock runs forwards. It returns false if nothing can be told, because
// most ids of the process are not in the data.
func judge(e extent, value uint64) (v verdict, ok bool) {
	step := typicalStep(e)
	if step*sparseFactor > counterRange {
		return v, false
	}
	ss, done := newStretches(e, step)
	rewritten := extent{e.list, e.i, done}
	defer func() {
		for records := range rewritten.spans() {
			for i, r := range records {
				records[i] = byTime(r, value)
			}
		}
		e.list.sort(e.i, e.j)
	}()
	if done < e.j {
		return v, false
	}
	pairs := ss.overlapping()
	ss.unite(pairs)
	if ss.late > 0 || slices.ContainsFunc(ss.list, func(s stretch) bool { return s.shift != 0 }) || len(pairs) > 0 {
		ss.lookByCounter(e, value, &v)
	}
	joined := ss.judgeLinks(e, value, &v)
	ss.judgeTurns(pairs, joined, value, &v)
	ss.judgeResumed(joined, value, &v)
	ss.countGaps(joined, &v)
	return v, true
}

// lookByCounter looks at the groups in the order of their counters: does the clock fall,
// or do two processes use the same counters?
func (ss *stretches) lookByCounter(e extent, value uint64, v *verdict) {
	least := make([]int64, len(ss.list)) // lowest counter of each group
	for _, s := range ss.list {
		least[s.group] = min(least[s.group], s.from+s.shift)
	}
	for records := range e.spans() {
		for i, r := range records {
			s := &ss.list[r.stretch()]
			records[i].hi = uint64(s.group)<<unwrappedBits | uint64(r.unwrapped()+s.shift-least[s.group])
		}
	}
	e.list.sort(e.i, e.j)
	for i := e.i; i < e.j; {
		group := e.list.at(i).stretch()
		j := e.list.search(i, e.j, func(r record) bool { return r.stretch() > group })
		w := newView(extent{e.list, i, j})
		switch {
		case w.sharesCounters() || w.interleaved():
			v.shared.add(maxBits, value, w.sharers()...)
		case len(w.steps) > 0:
			v.stepped.add(maxBits, value, w.steps.records()...)
		}
		i = j
	}
}

// judgeLinks counts the stretches whose counters go on in earlier ids, if chance does
// not explain that. It returns for each stretch the one that it continues.
func (ss *stretches) judgeLinks(e extent, value uint64, v *verdict) map[int]int {
	joined := map[int]int{}
	links := ss.links()
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(a.chance, b.chance) })
	// The chance of n links that each have at most the chance p is that of a Poisson
	// distribution, p^n/n!.
	certain, most := 0, 0.
	factorial := 0.
	for i, l := range links {
		n := float64(i + 1)
		factorial += math.Log2(n)
		if bits := n*bitsOf(l.chance) + factorial; bits >= proofBits && bitsOf(l.chance) > 0 {
			certain, most = i+1, max(most, bits)
		}
	}
	var maybe []link
	for i, l := range links {
		switch bits := bitsOf(l.both); {
		case i < certain:
			ss.join(l, max(most, bits), joined, value, v)
		case bits >= proofBits:
			ss.join(l, bits, joined, value, v)
		case bits >= proofBits-orderBits && len(maybe) < maxMaybe:
			maybe = append(maybe, l)
		}
	}
	if len(maybe) == 0 {
		return joined
	}
	// In a source that is in the order in which its documents were stored, the ids
	// before the step come directly before those after it.
	direct := make([]bool, len(maybe))
	for i, l := range maybe {
		direct[i] = ss.list[l.stretch].end.place() < l.next.place()
	}
	for records := range e.spans() {
		for _, r := range records {
			for i, l := range maybe {
				if r.place() > ss.list[l.stretch].end.place() && r.place() < l.next.place() {
					direct[i] = false
				}
			}
		}
	}
	for i, l := range maybe {
		if direct[i] {
			ss.join(l, bitsOf(l.both)+orderBits, joined, value, v)
		}
	}
	return joined
}

// join takes l for a clock step.
func (ss *stretches) join(l link, bits float64, joined map[int]int, value uint64, v *verdict) {
	s := &ss.list[l.stretch]
	v.stepped.add(bits, value, l.before, l.next)
	if l.previous >= 0 {
		joined[l.stretch] = l.previous
	}
	switch next := l.next.stretch(); {
	case next == l.previous, next == l.stretch: // it fits a hole, which counts as a gap of the other one
		v.gaps -= s.length() + 1
	default:
		joined[next] = l.stretch
		v.gaps += l.ahead - 1
		if l.previous >= 0 {
			v.gaps += l.behind - 1
		}
	}
}

// judgeTurns finds stretches whose processes took turns.
func (ss *stretches) judgeTurns(pairs []pair, joined map[int]int, value uint64, v *verdict) {
	for _, p := range pairs {
		a, b := &ss.list[p.a], &ss.list[p.b]
		if a.group == b.group || isJoined(joined, p) {
			continue
		}
		bits, toA, toB := ss.turnBits(p)
		if toA >= 1 && toB >= 1 && toA+toB >= minTurns && bits >= proofBits {
			v.shared.add(bits, value, a.start, b.start, a.end, b.end)
		}
	}
}

func isJoined(joined map[int]int, p pair) bool {
	a, okA := joined[p.a]
	b, okB := joined[p.b]
	return okA && a == p.b || okB && b == p.a
}

// judgeResumed finds stretches that start within the counters of an older one, later.
func (ss *stretches) judgeResumed(joined map[int]int, value uint64, v *verdict) {
	var covered float64
	count := float64(len(ss.list) - 1)
	for i := range ss.list {
		s := &ss.list[i]
		_, continues := joined[i]
		for k := range ss.list[:min(i, maxOlder)] {
			older := &ss.list[k]
			inside := (s.from - older.from) & counterMask
			if continues || older.last >= s.first || inside > older.length() || older.length() >= counterRange {
				continue
			}
			if chance := count * covered / counterRange; bitsOf(chance) >= proofBits && !isJoined(joined, pair{k, i}) {
				v.resumed.add(bitsOf(chance), value, older.start, s.start)
			}
		}
		covered += float64(s.length() + 1)
	}
}

// countGaps counts the counters that no id has within the stretches, and between those
// of which one continues the other; all others are restarts.
func (ss *stretches) countGaps(joined map[int]int, v *verdict) {
	type counters struct{ from, at, ids int64 }
	groups := map[int]*counters{}
	var pace int64
	for i := range ss.list {
		s := &ss.list[i]
		pace = max(pace, s.pace)
		if g := groups[s.group]; g == nil {
			groups[s.group] = &counters{s.from + s.shift, s.at + s.shift, s.ids}
		} else {
			g.from, g.at, g.ids = min(g.from, s.from+s.shift), max(g.at, s.at+s.shift), g.ids+s.ids
		}
	}
	for _, g := range groups {
		v.gaps += max(g.at-g.from+1-g.ids, 0)
	}
	// A sequence is what is joined; its first stretch is a restart or behind a gap.
	sequence := make([]int, len(ss.list))
	for i := range sequence {
		sequence[i] = i
	}
	merge := func(a, b int) {
		for i, n := range sequence {
			if n == a {
				sequence[i] = b
			}
		}
	}
	for i := range ss.list {
		if group := ss.list[i].group; group != i {
			merge(sequence[i], sequence[group])
		}
		if before, ok := joined[i]; ok {
			merge(sequence[i], sequence[before])
		}
	}
	run := map[int]int{} // of each sequence: its index in lives
	for i := range ss.list {
		s := &ss.list[i]
		if at, ok := run[sequence[i]]; ok || len(v.lives) == maxRuns {
			l := &v.lives[at]
			l.first, l.last, l.ids = min(l.first, s.first), max(l.last, s.last), l.ids+s.ids
			continue
		}
		run[sequence[i]] = len(v.lives)
		v.lives = append(v.lives, life{s.first, s.last, s.ids})
		if i == 0 {
			continue
		}
		before := &ss.list[i-1]
		ahead := (s.from - before.at) & counterMask
		elapsed := int64(s.first) - int64(before.last) + 1
		if float64(ahead) <= paceFactor*float64(pace)*float64(max(elapsed, 1)) && ahead <= maxGap {
			v.gaps += ahead - 1
			// The same run goes on.
			n := len(v.lives) - 1
			l := &v.lives[run[sequence[i-1]]]
			l.last, l.ids = max(l.last, s.last), l.ids+s.ids
			v.lives, run[sequence[i]] = v.lives[:n], run[sequence[i-1]]
		} else {
			v.restarts++
		}
	}
	v.gaps = max(v.gaps, 0)
}

// need returns the bits of evidence that a finding takes in a census with n process
// values that have breaks: chance must not explain one of all of them.
func need(n int64) int {
	return proofBits + int(math.Ceil(math.Log2(max(float64(n)/fewBroken, 1))))
}

// suspects counts processes by the evidence of something, and keeps those that show it.
type suspects struct {
	byBits   [maxBits + 1]int64
	examples []evidence
}

// add counts p.
func (s *suspects) add(e evidence) {
	if e.bits == 0 {
		return
	}
	s.byBits[e.bits]++
	s.keep(e)
}

func (s *suspects) keep(e evidence) {
	if len(s.examples) < maxSuspects {
		s.examples = append(s.examples, e)
	}
}

func (s *suspects) merge(other suspects) {
	for i, n := range other.byBits {
		s.byBits[i] += n
	}
	for _, e := range other.examples {
		s.keep(e)
	}
}

// atLeast returns how many processes have that evidence, and the examples of some.
func (s *suspects) atLeast(bits int) (count int64, examples [][]record) {
	for _, n := range s.byBits[bits:] {
		count += n
	}
	for _, e := range s.examples {
		if e.bits >= bits && len(examples) < maxExamples {
			examples = append(examples, e.examples)
		}
	}
	return count, examples
}
