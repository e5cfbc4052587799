package census

// late counts the ids that stand behind others that are more than lateAfter
// seconds younger.
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
