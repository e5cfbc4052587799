package census

import (
	"slices"
	"time"
)

// The kinds of events that are not findings. Other events have the kind of the finding
// about the process concerned.
const (
	// KindOutage: no id was created where there usually are many.
	KindOutage Kind = "outage"
	// KindImport: far more ids were created than usually.
	KindImport Kind = "import"
	// KindDeletion: ids that were created are not in the data.
	KindDeletion Kind = "deletion"
)

// Event is something that happened in the life of a collection.
type Event struct {
	Kind  Kind
	Start time.Time
	End   time.Time // not before Start
	// Size is how many ids are concerned: those of an import, about as many as are
	// missing after a deletion, or as an outage would usually have had; of a clock
	// step, seconds.
	Size int64
	// Share is the part of the ids created then that a deletion took, from 0 to 1.
	Share float64
	// Process is the process value concerned, or empty.
	Process string
	// Usual is what an outage differs from: "all 212 other days have ids".
	Usual string
	// Confidence is how sure it is. An outage is certain if chance makes one in e^12
	// histories, likely in e^7, and possible in e^4.6, or if other silences of the
	// collection have lengths so different that this may be one of them.
	Confidence Confidence
}

// Confidence is how sure something is.
type Confidence string

// The confidences.
const (
	ConfidenceCertain  Confidence = "certain"
	ConfidenceLikely   Confidence = "likely"
	ConfidencePossible Confidence = "possible"
)

// events returns what happened, and how long a silence must be for an
// outage, in the busiest and in the quietest hours of the week of a zone.
func (h *history) events(zone *time.Location) ([]Event, [2]time.Duration) {
	out, shortest := h.outages(zone)
	return slices.Concat(out, h.imports(), h.deletions()), shortest
}

func (h *history) minute(i int) time.Time { return moment(h.from + uint32(i)*secondsPerMinute) }

const secondsPerMinute = 60

// imports returns the times with far more ids than usual, where that is known.
func (h *history) imports() (out []Event) {
	const window = 10 // minutes
	var counts []int64
	for part := range slices.Chunk(h.minutes, window) {
		counts = append(counts, sumCounts(part))
	}
	typical := float64(median(slices.Clone(counts)))
	more := make([]int64, len(counts)) // ids than usual, if these are far more
	day := func(w int) int { return w * window / minutesPerDay }
	most, bursts := make([]int64, day(len(counts))+1), make([]int64, day(len(counts))+1) // by day
	for w, n := range counts {
		most[day(w)] = max(most[day(w)], n)
		if n <= importLeast {
			continue
		}
		usual, isKnown := h.usual(w * window / 60)
		expected := max(float64(usual)*window/60, typical/importFactor)
		if isKnown && float64(n) > importFactor*expected+importLeast {
			more[w], bursts[day(w)] = n-int64(expected), max(bursts[day(w)], n)
		}
	}
	for w := 0; w < len(counts); w++ {
		if more[w] == 0 {
			continue
		}
		from, top, size := w, int64(0), int64(0)
		for ; w < len(counts) && more[w] > 0; w++ {
			top, size = max(top, counts[w]), size+more[w]
		}
		at, recurs := day(from), 0
		for d := max(at-365, 0); d <= min(at+365, len(most)-1) && recurs < minPeriods; d++ {
			if (d < at-1 || d > at+1) && (2*most[d] >= top || importFactor*bursts[d] >= top) {
				recurs++
			}
		}
		if recurs >= minPeriods { // what recurs is a job
			continue
		}
		a, b := from*window, w*window // to the minute
		peak := slices.Max(h.minutes[a:b])
		for h.minutes[a] < peak/10 {
			a++
		}
		for h.minutes[b-1] < peak/10 {
			b--
		}
		out = append(out, Event{Kind: KindImport, Start: h.minute(a), End: h.minute(b), Size: size, Confidence: ConfidenceLikely})
	}
	return out
}

// deletions returns the days of which more ids are missing than of others.
func (h *history) deletions() (out []Event) {
	days := h.hours() / 24
	shares, ids, gaps := make([]float64, days), make([]int64, days), make([]int64, days)
	var known []float64
	for d := range days {
		for i := d * 24; i < d*24+24; i++ {
			ids[d] += h.hour(i)
			gaps[d] += h.gaps[i]
		}
		if ids[d] > 0 && ids[d]+gaps[d] >= deletionLeast { // else it is for outages
			shares[d] = float64(gaps[d]) / float64(ids[d]+gaps[d])
			known = append(known, shares[d])
		}
	}
	if len(known) < minPeriods {
		return nil
	}
	typicals := [7]float64{}
	for weekday := range typicals { // counters may go elsewhere on some of them
		var alike []float64
		for d := weekday; d < days; d += 7 {
			if ids[d] > 0 {
				alike = append(alike, shares[d])
			}
		}
		if typicals[weekday] = median(known); len(alike) >= minPeriods {
			typicals[weekday] = max(typicals[weekday], median(alike))
		}
	}
	isMissing := func(d int) bool { return shares[d] > typicals[d%7]+deletionShare }
	for d := 0; d < days; d++ {
		if !isMissing(d) {
			continue
		}
		from, gone, made := d, 0., 0.
		for k := d; k < days && k <= d+1+maxQuietDays; k++ {
			if isMissing(k) {
				d = k
				made += float64(ids[k] + gaps[k])
				gone += float64(gaps[k]) - typicals[k%7]*float64(ids[k]+gaps[k])
			}
		}
		if made*deletionShare < deletionLeast {
			continue
		}
		e := Event{
			Kind: KindDeletion, Start: moment(h.from + uint32(from)*secondsPerDay), End: moment(h.from + uint32(d+1)*secondsPerDay),
			Size: int64(gone), Share: gone / made, Confidence: ConfidenceLikely,
		}
		if d == from {
			e.Confidence = ConfidencePossible
		}
		out = append(out, e)
	}
	return out
}

// faultEvents returns the events of single processes.
func (t *tally) faultEvents() (out []Event) {
	need, _ := t.suspects.need(t.broken)
	for f, of := range faultKinds {
		_, found := t.suspects.found[f].between(need, maxBits+1)
		for _, one := range found {
			e := Event{Kind: of.kind, Start: moment(one.first), End: moment(one.last), Process: processText(one.examples[0].Value()), Size: 2, Confidence: ConfidenceCertain}
			if fault(f) == stepped {
				before, after := one.examples[0].Second(), one.examples[1].Second()
				e.Start, e.End, e.Size = moment(after), moment(before), int64(before-after)
			}
			out = append(out, e)
		}
	}
	return out
}
