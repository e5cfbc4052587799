package census

import (
	"slices"
	"time"
)

// The kinds of events in the history of a collection. Events about a single process have
// the kind of a finding instead, such as [KindClockStep].
const (
	// KindOutage: no id was created in a period that usually has many.
	KindOutage Kind = "outage"
	// KindImport: far more ids were created than usual.
	KindImport Kind = "import"
	// KindDeletion: many ids that were created in a period are not in the data.
	KindDeletion Kind = "deletion"
	// KindDeploy: a version of a service was deployed, see [ReportOptions].Deploys.
	KindDeploy Kind = "deploy"
)

// Event is something that happened at a known time, to a collection or to a process.
type Event struct {
	Kind  Kind
	Start time.Time
	End   time.Time // not before Start
	// Size depends on the kind. For an import, it is about how many more ids than usual were
	// created. For a deletion, it is about how many ids are missing. For an outage, it is
	// about how many ids are usually created in such a period. For a clock step, it is the
	// least number of seconds by which the clock was set back. For other events about a
	// process, it is not meaningful.
	Size int64
	// Share is the missing fraction of the ids that were created in the period of a
	// deletion, from 0 to 1. For other events it is 0.
	Share float64
	// Process is the process value if the event is about a single process. Otherwise it is
	// empty.
	Process string
	// Usual says which times have ids, if the event is an outage, for example "all 212
	// other days have ids". For other events it is empty.
	Usual string
	// Confidence is how certain the event is. Chance causes a wrong [ConfidenceCertain]
	// outage in one of e^12 collections, a wrong [ConfidenceLikely] outage in one of e^7,
	// and a wrong [ConfidencePossible] outage in one of e^4.6. If a collection has pauses of
	// very different lengths, an outage that does not stand out among them is only
	// ConfidencePossible.
	Confidence Confidence
	// Service and Version are what was deployed. For other events they are empty.
	Service, Version string
}

// Confidence is how certain an [Event] is.
type Confidence string

const (
	ConfidenceCertain  Confidence = "certain"
	ConfidenceLikely   Confidence = "likely"
	ConfidencePossible Confidence = "possible"
)

// events returns the events of a collection. It also returns the shortest silence that is
// recognized as an outage, in the busiest and in the quietest hours of the week in a zone.
func (h *history) events(zone *time.Location) ([]Event, [2]time.Duration) {
	out, shortest := h.outages(zone)
	return slices.Concat(out, h.imports(), h.deletions()), shortest
}

func (h *history) minute(i int) time.Time { return moment(h.from + uint32(i)*secondsPerMinute) }

const secondsPerMinute = 60

// imports returns the times with far more ids than usual. Times for which the usual number
// is not known are left out.
func (h *history) imports() (out []Event) {
	const window = 10 // minutes
	var counts []int64
	for part := range slices.Chunk(h.minutes, window) {
		counts = append(counts, sumCounts(part))
	}
	typical := float64(median(slices.Clone(counts)))
	more := make([]int64, len(counts)) // ids beyond the usual number, in windows with far more
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
		if recurs >= minPeriods { // a job
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

// deletions returns the days on which a larger share of the ids is missing than on others.
func (h *history) deletions() (out []Event) {
	days := h.hours() / 24
	shares, ids, gaps := make([]float64, days), make([]int64, days), make([]int64, days)
	var known []float64
	for d := range days {
		for i := d * 24; i < d*24+24; i++ {
			ids[d] += h.hour(i)
			gaps[d] += h.gaps[i]
		}
		if ids[d] > 0 && ids[d]+gaps[d] >= deletionLeast { // days without ids may be outages
			shares[d] = float64(gaps[d]) / float64(ids[d]+gaps[d])
			known = append(known, shares[d])
		}
	}
	if len(known) < minPeriods {
		return nil
	}
	typicals := [7]float64{}
	for weekday := range typicals { // on some weekdays other collections may get more ids
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

// faultEvents returns the events about single processes.
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
