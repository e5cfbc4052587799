package census

// view is the evidence about a process, in the order of its unwrapped counters.
type view struct {
	gaps, jumps int64
	meanStep    int64 // of the counter from id to id, without jumps

	arcs     []arc
	steps    clockSteps
	lastStep int64 // unwrapped counter of the last clock step

	conflicts int64 // one unwrapped counter with two times
	conflict  [2]record

	reversals                   int64 // falls of the clock that are undone at once
	firstReversal, lastReversal int64 // unwrapped counters
}

// arc is a stretch of counters without a gap that calls for an explanation.
type arc struct {
	first, last   uint32 // earliest and latest second
	ids           int64
	from, to      int64 // unwrapped counters
	early, latest record
}

// clockStep is a clock that is set backwards: before is the last id before it and
// after the first one after it.
type clockStep struct{ before, after record }

func (s clockStep) seconds() uint32 { return s.before.secondByCounter() - s.after.secondByCounter() }

type clockSteps []clockStep

func (ss clockSteps) records() (out []record) {
	for _, s := range ss {
		out = append(out, s.before, s.after)
	}
	return out
}

// newView returns the view of e, whose records are by counter.
func newView(e extent) *view {
	v := new(view)
	v.measure(e)
	var g regression
	var prev record
	started := false
	for records := range e.spans() {
		for _, r := range records {
			switch {
			case !started:
				v.arcs = append(v.arcs, newArc(r))
			case r.hi == prev.hi:
				// A process uses a counter value once. In the same second this is
				// a duplicate, which is counted elsewhere.
				if r.secondByCounter() != prev.secondByCounter() {
					v.conflicts++
					v.conflict = [2]record{prev, r}
				}
				continue
			case r.unwrapped()-prev.unwrapped() > arcGap+arcGapFactor*v.meanStep && len(v.arcs) < maxArcs:
				v.arcs = append(v.arcs, newArc(r))
				g = regression{}
			default:
				v.arcs[len(v.arcs)-1].add(r)
				v.follow(&g, prev, r)
			}
			prev, started = r, true
		}
	}
	return v
}

// measure sets gaps, jumps and meanStep.
func (v *view) measure(e extent) {
	var sum, n int64
	var prev record
	started := false
	for records := range e.spans() {
		for _, r := range records {
			if started && r.hi != prev.hi {
				if d := r.unwrapped() - prev.unwrapped(); d <= maxGap {
					v.gaps += d - 1
					sum += d
					n++
				} else {
					v.jumps++
				}
			}
			prev, started = r, true
		}
	}
	v.meanStep = sum / max(n, 1)
}

// regression is the ids after a fall of the clock, up to where the clock is again
// what it was before.
type regression struct {
	clockStep
	ids     int64
	counted bool
}

// follow continues from prev to r.
func (v *view) follow(g *regression, prev, r record) {
	s, p := r.secondByCounter(), prev.secondByCounter()
	switch {
	case p > s && p-s >= minStep:
		*g = regression{clockStep: clockStep{prev, r}, ids: 1}
		v.countStep(g)
	case g.ids == 0:
	case s+1 >= g.before.secondByCounter():
		if g.ids <= maxReversal && s-p >= g.seconds()/2 {
			if v.reversals == 0 {
				v.firstReversal = r.unwrapped()
			}
			v.lastReversal = r.unwrapped()
			v.reversals++
		}
		*g = regression{}
	default:
		g.ids++
		v.countStep(g)
	}
}

// countStep counts a clock step once it is more than one late id.
func (v *view) countStep(g *regression) {
	if g.counted || g.ids < minBehind && g.seconds() < certainStep {
		return
	}
	g.counted = true
	at := g.after.unwrapped()
	stale := len(v.steps) > 0 && at-v.lastStep <= staleIDs
	v.lastStep = at
	if !stale && len(v.steps) < maxExamples {
		v.steps = append(v.steps, g.clockStep)
	}
}

func newArc(r record) arc {
	s := r.secondByCounter()
	return arc{s, s, 1, r.unwrapped(), r.unwrapped(), r, r}
}

func (a *arc) add(r record) {
	s := r.secondByCounter()
	a.ids++
	a.to = r.unwrapped()
	if s < a.first {
		a.first, a.early = s, r
	}
	if s >= a.last {
		a.last, a.latest = s, r
	}
}

// interleaved reports whether time goes back and forth throughout, as it does where two
// processes use the same counters, and not only around a clock step.
func (v *view) interleaved() bool {
	from, to := v.arcs[0].from, v.arcs[len(v.arcs)-1].to
	return v.reversals >= minReversals && v.lastReversal-v.firstReversal >= (to-from)/2
}

// overlaps reports whether two arcs were in use at the same time.
func (v *view) overlaps() bool {
	a, _ := v.overlap()
	return a != nil
}

// overlap returns two arcs that were in use at the same time, or nil.
func (v *view) overlap() (a, b *arc) {
	for i := range v.arcs {
		for k := range v.arcs[:i] {
			a, b := &v.arcs[k], &v.arcs[i]
			if a.ids >= 2 && b.ids >= 2 && int64(min(a.last, b.last))-int64(max(a.first, b.first)) >= minStep {
				return a, b
			}
		}
	}
	return nil, nil
}

// sharers returns ids of several processes that share the process value.
func (v *view) sharers() []record {
	if a, b := v.overlap(); a != nil {
		return []record{a.early, b.early, a.latest, b.latest}
	}
	if v.conflicts > 0 {
		return v.conflict[:]
	}
	return v.steps.records()
}

// isClose reports whether all ids are in one arc that is a small part of the
// counter's range.
func (v *view) isClose() bool {
	return len(v.arcs) == 1 && v.arcs[0].to-v.arcs[0].from < maxGap
}
