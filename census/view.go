package census

// view is a group of stretches in the order of its counters.
type view struct {
	steps    clockSteps
	lastStep int64 // counter of the last clock step

	twins      int64 // counters with two times
	twin       [2]record
	twinsFirst uint32 // seconds
	twinsLast  uint32

	reversals      int64 // falls of the clock that are undone at once
	reversal       [2]record
	reversalsFirst uint32 // seconds to which it fell
	reversalsLast  uint32
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
	var g regression
	var prev record
	started := false
	for records := range e.spans() {
		for _, r := range records {
			switch {
			case !started:
			case r.hi == prev.hi:
				// A process uses a counter value once. In the same second this is
				// a duplicate, which is counted elsewhere.
				if s := r.secondByCounter(); s != prev.secondByCounter() {
					if v.twins == 0 {
						v.twin, v.twinsFirst, v.twinsLast = [2]record{prev, r}, s, s
					}
					v.twins++
					v.twinsFirst, v.twinsLast = min(v.twinsFirst, s), max(v.twinsLast, s)
				}
				continue
			default:
				v.follow(&g, prev, r)
			}
			prev, started = r, true
		}
	}
	return v
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
			low := g.after.secondByCounter()
			if v.reversals == 0 {
				v.reversal, v.reversalsFirst = [2]record{prev, r}, low
			}
			v.reversals++
			v.reversalsFirst, v.reversalsLast = min(v.reversalsFirst, low), max(v.reversalsLast, low)
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

// sharesCounters reports whether two processes used the same counters for some time. A
// process that restarts at once may by chance begin among the last counters before.
func (v *view) sharesCounters() bool {
	return v.twins > 1 && v.twinsLast-v.twinsFirst >= minTwinSeconds
}

// interleaved reports whether time goes back and forth, as it does where two processes
// use the same counters, and not only around a clock step.
func (v *view) interleaved() bool {
	return v.reversals >= minReversals && v.reversalsLast-v.reversalsFirst >= minTwinSeconds
}

// sharers returns ids of several processes that share the process value.
func (v *view) sharers() []record {
	if v.twins > 0 {
		return v.twin[:]
	}
	return v.reversal[:]
}
