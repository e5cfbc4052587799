package census

// A process does not always keep to one process value. The counters of two
// layouts go on into its last byte:
//
//   - A Java counter has four bytes, so the upper one counts up once in 2^24 ids,
//     and the value before does not come back.
//   - A Modern generator of this module borrows the value above when its counter
//     overflows, for what is left of that second, and then comes back.
//
// joins reports whether next, which has the value above that of w, is the same
// process, and makes it a part of w.
func (w *writer) joins(next *writer) bool {
	if w.lastValue+1 != next.process || w.lastValue&0xFF == 0xFF {
		return false
	}
	switch {
	case w.goesOn(next):
		w.java = true
		w.missing += next.missing + circle - 1 - w.end + next.start
		w.end = next.end
	case w.lends(next):
		// The counters of next lie where those of w seem to have a gap.
		w.missing -= next.ids
	default:
		return false
	}
	w.jumps += next.jumps
	w.ids += next.ids
	w.first, w.last = min(w.first, next.first), max(w.last, next.last)
	w.more = append(append(w.more, next.part), next.more...)
	w.lastValue = next.process
	return true
}

// goesOn reports whether the counter of w overflowed for good into next.
func (w *writer) goesOn(next *writer) bool {
	return next.first >= w.last && w.end > circle-maxGap && next.start < maxGap && next.jumps == 0
}

// maxLent is how many seconds of a borrowed value are looked at.
const maxLent = 256

// lends reports whether w overflowed into next now and then for the rest of a
// second: whenever next made ids, those of w that came before were near the end
// of its counter, and those that came after go on where next stopped.
func (w *writer) lends(next *writer) bool {
	if next.first < w.first || next.last > w.last || next.ids > w.missing {
		return false
	}
	own, p := w.part, next.part
	for i, n := p.i, 0; i < p.j; n++ {
		s := p.list.at(i).second()
		end := p.list.search(i, p.j, func(r record) bool { return r.second() > s })
		after := own.list.search(own.i, own.j, func(r record) bool { return r.second() > s })
		if n == maxLent || after == own.i {
			return false
		}
		before := own.list.at(after - 1).counter()
		stopped := p.list.at(end - 1).counter()
		if before < circle-maxGap || p.list.at(i).counter() > maxGap {
			return false
		}
		if after < own.j {
			if on := own.list.at(after).counter(); on <= stopped || on-stopped > maxGap {
				return false
			}
		}
		i = end
	}
	next.jumps = 0 // from one overflow to the next
	return true
}
