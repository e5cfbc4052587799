package census

// second counts the ids of one second of one writer.
type second struct {
	at    uint32
	ids   int64
	first record
}

// walk counts the records from i to j, which are sorted.
func (t *tally) walk(list *records, i, j int) {
	for i < j {
		end := list.endOfWriter(i, j)
		t.writer(list, i, end)
		i = end
	}
}

// endOfWriter returns the end of the records, at j or before, that have the
// process value of record i.
func (l *records) endOfWriter(i, j int) int {
	process := l.at(i).process()
	// Most writers of a census with many are small, so look nearby first.
	step := 1
	for i+step < j && l.at(i+step).process() == process {
		i += step
		step *= 2
	}
	return l.search(i+1, min(i+step, j), func(r record) bool { return r.process() != process })
}

// endOfBlock is endOfWriter for all writers whose process values have the first
// four bytes in common.
func (l *records) endOfBlock(i, j int) int {
	block := l.at(i).process() >> 8
	return l.search(i+1, j, func(r record) bool { return r.process()>>8 != block })
}

// writer counts one writer's ids, the records from i to end.
func (t *tally) writer(list *records, i, end int) {
	process := list.at(i).process()
	out := writer{process: process, lastValue: process, part: part{list, i, end}}
	mayBound := process == lowTail || process == highTail
	w := newWalk()
	sec := second{at: list.at(i).second()}
	bucket, until := t.axis.bucket(sec.at)
	repeats := 0
	var prev record
	started := false
	for span := range list.spans(i, end) {
		for _, r := range span {
			if started && r.sameID(prev) {
				if mayBound && r.isBound() {
					t.bounds.add(1, r)
				} else {
					sec.ids++
				}
				if repeats == 0 {
					t.repeated++
					t.duplicates.add(1, prev, r)
				} else {
					t.duplicates.add(1)
				}
				repeats++
				continue
			}
			started, repeats, prev = true, 0, r
			t.distinct++
			if mayBound && r.isBound() {
				t.bounds.add(1, r)
				continue
			}
			if s := r.second(); s != sec.at || out.ids == 0 {
				if out.ids == 0 {
					out.first = s
				} else {
					t.second(&sec, bucket)
					w.end(s - sec.at)
				}
				if int64(s) >= until || bucket < 0 {
					bucket, until = t.axis.bucket(s)
				}
				sec = second{at: s, first: r}
			}
			sec.ids++
			out.ids++
			w.add(r.counter())
		}
	}
	t.ids += int64(end - i)
	if out.ids == 0 {
		return // bounds alone
	}
	t.second(&sec, bucket)
	w.end(0)
	out.last = sec.at
	out.missing, out.jumps = w.missing, w.jumps
	out.start, out.end = w.start, w.at
	if t.pending.ids > 0 && t.pending.joins(&out) {
		return
	}
	// Where bounds stand among them, what made these ids is no driver.
	if w.odd && !mayBound {
		out.far = w.far
		t.judge(list, &out, i, end)
	}
	if !out.shared && !out.stepped && out.mayFold() {
		t.unfold(list, &out, i, end)
	}
	t.next(out)
}

// second adds the ids of one second to the timeline.
func (t *tally) second(s *second, bucket int) {
	if bucket >= 0 {
		t.counts[bucket] += s.ids
	} else {
		t.off += s.ids
	}
	switch {
	case s.at > t.latest:
		t.future.add(s.ids, s.first)
	case s.at < earliest:
		t.early.add(s.ids, s.first)
	}
}
