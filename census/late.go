package census

// late counts the ids that stand behind several others that are more than
// lateAfter seconds younger.
type late struct {
	sighting
	most   uint32 // seconds that one was late
	latest record
}

func (l *late) add(r record, by uint32) {
	l.sighting.add(1, r)
	if by > l.most {
		l.most, l.latest = by, r
	}
}

// witnesses is behind how many younger ids an id must stand to be late. One alone
// may be the one with the wrong clock.
const witnesses = 16

// youngest keeps the youngest seconds of a source so far, the youngest last.
type youngest [witnesses]uint32

// add takes the next second.
func (y *youngest) add(s uint32) {
	if s <= y[0] {
		return
	}
	i := 1
	for i < witnesses && y[i] < s {
		y[i-1] = y[i]
		i++
	}
	y[i-1] = s
}

// lateBy returns by how many seconds all of them are younger than s, or 0.
func (y *youngest) lateBy(s uint32) uint32 { return max(y[0], s) - s }
