package census

// view is what a writer's ids tell in order of their positions.
type view struct {
	missing, jumps int64
	mean           int64 // steps of the counter from id to id, without jumps

	arcs      []arc
	falls     []fall
	moreFalls int64
	twins     int64 // one position with two times
	zigzags   int64 // falls that are taken back at once
	zig, zag  int64 // positions of the first and of the last of them
	lastFall  int64 // position of the last fall that counts
	twin      [2]record
}

// arc is a stretch of positions without a hole that calls for an explanation.
type arc struct {
	first, last   uint32 // earliest and latest second
	ids           int64
	from, to      int64 // positions
	early, latest record
}

// fall is a clock stepping back: before is the last id that it made before, and
// after the first one after.
type fall struct{ before, after record }

func (f fall) seconds() uint32 { return f.before.turnedSecond() - f.after.turnedSecond() }

// overtakers is how many ids may come behind a step of the clock from threads
// that read it before.
const overtakers = 1024

// interleaved reports whether time falls and comes back all along, as it does
// where two processes go through the same counters, and not only around a step of
// the clock.
func (v *view) interleaved() bool {
	from, to := v.arcs[0].from, v.arcs[len(v.arcs)-1].to
	return v.zigzags >= 8 && v.zag-v.zig >= (to-from)/2
}

const (
	maxArcs  = 64
	maxFalls = maxExamples
)

// view goes through the records from i to j, which are in order of positions.
func (l *records) view(i, j int) *view {
	v := new(view)
	v.measure(l, i, j)
	var d dip
	var prev record
	started := false
	for span := range l.spans(i, j) {
		for _, r := range span {
			switch {
			case !started:
				v.arcs = append(v.arcs, newArc(r))
			case r.hi == prev.hi:
				// A process takes a number once. In the same second it is an id
				// that is there twice, which is counted elsewhere.
				if r.turnedSecond() != prev.turnedSecond() {
					v.twins++
					v.twin = [2]record{prev, r}
				}
				continue
			default:
				if r.position()-prev.position() > v.hole() && len(v.arcs) < maxArcs {
					v.arcs = append(v.arcs, newArc(r))
					d = dip{}
				} else {
					v.arcs[len(v.arcs)-1].add(r)
					v.step(&d, prev, r)
				}
			}
			prev, started = r, true
		}
	}
	return v
}

// measure sets missing, jumps and mean.
func (v *view) measure(l *records, i, j int) {
	var steps, n int64
	var prev record
	started := false
	for span := range l.spans(i, j) {
		for _, r := range span {
			if started && r.hi != prev.hi {
				if d := r.position() - prev.position(); d <= maxGap {
					v.missing += d - 1
					steps += d
					n++
				} else {
					v.jumps++
				}
			}
			prev, started = r, true
		}
	}
	v.mean = steps / max(n, 1)
}

// hole returns how many positions must lack to end an arc.
func (v *view) hole() int64 { return 1024 + 64*v.mean }

// dip is a stretch of ids behind a fall, up to where the clock is again what it
// was before.
type dip struct {
	fall
	ids  int64
	sure bool
}

// step goes on from prev to r.
func (v *view) step(d *dip, prev, r record) {
	s, p := r.turnedSecond(), prev.turnedSecond()
	if p >= s+minFall && p > s {
		*d = dip{fall: fall{prev, r}, ids: 1}
		v.confirm(d)
		return
	}
	if d.ids == 0 {
		return
	}
	if s+1 >= d.before.turnedSecond() {
		if d.ids <= 8 && s-p >= d.seconds()/2 {
			if v.zigzags == 0 {
				v.zig = r.position()
			}
			v.zag = r.position()
			v.zigzags++
		}
		*d = dip{}
		return
	}
	d.ids++
	v.confirm(d)
}

// confirm counts a fall once it is more than one id that was late.
func (v *view) confirm(d *dip) {
	if d.sure || d.ids < 2 && d.seconds() < sureFall {
		return
	}
	d.sure = true
	at := d.after.position()
	again := len(v.falls) > 0 && at-v.lastFall <= overtakers
	v.lastFall = at
	if again {
		return // threads that had read the clock before it stepped
	}
	if len(v.falls) < maxFalls {
		v.falls = append(v.falls, d.fall)
	} else {
		v.moreFalls++
	}
}

func newArc(r record) arc {
	s := r.turnedSecond()
	return arc{s, s, 1, r.position(), r.position(), r, r}
}

func (a *arc) add(r record) {
	s := r.turnedSecond()
	a.ids++
	a.to = r.position()
	if s < a.first {
		a.first, a.early = s, r
	}
	if s >= a.last {
		a.last, a.latest = s, r
	}
}

// overlap reports whether two arcs were at work at the same time.
func (v *view) overlap() bool {
	_, _, ok := v.overlapping()
	return ok
}

func (v *view) overlapping() (a, b *arc, ok bool) {
	for i := range v.arcs {
		for k := range v.arcs[:i] {
			a, b := &v.arcs[k], &v.arcs[i]
			if a.ids >= 2 && b.ids >= 2 && int64(min(a.last, b.last))-int64(max(a.first, b.first)) >= minFall {
				return a, b, true
			}
		}
	}
	return nil, nil, false
}

// sharers returns ids of both of those that share the writer's process value.
func (v *view) sharers() []record {
	if a, b, ok := v.overlapping(); ok {
		return []record{a.early, b.early, a.latest, b.latest}
	}
	if v.twins > 0 {
		return v.twin[:]
	}
	var out []record
	for _, f := range v.falls {
		out = append(out, f.before, f.after)
	}
	return out
}

// close reports whether all ids lie in one arc that is a small part of what a
// counter has.
func (v *view) close() bool {
	return len(v.arcs) == 1 && v.arcs[0].to-v.arcs[0].from < maxGap
}
