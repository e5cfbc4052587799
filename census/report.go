package census

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/objectid"
)

// ReportOptions define what a [Report] shows of a census. The zero ReportOptions, like
// a nil pointer, are ready to use.
type ReportOptions struct {
	// By is the length of the timeline's buckets. Default: chosen to fit.
	By Interval

	// Zone is the time zone of the timeline. Default: UTC.
	Zone *time.Location

	// Top is how many processes are listed, those with the most ids. Default: 10.
	// Negative: all of them.
	Top int

	// Name, if not nil, returns the name of the process that created an id, or ""
	// if that is unknown. It is called once for each process that is listed.
	Name func(objectid.ID) string
}

func (o *ReportOptions) withDefaults() ReportOptions {
	out := *cmp.Or(o, &ReportOptions{})
	out.By, out.Zone = cmp.Or(out.By, IntervalAuto), cmp.Or(out.Zone, time.UTC)
	out.Top = max(cmp.Or(out.Top, 10), 0) // from here on 0 means no limit
	return out
}

// Report is the result of a census, or the part of it about one collection.
type Report struct {
	// Collection is the name of the collection, or empty if the sources do not name
	// it or if there are several.
	Collection string
	// Collections are the reports of several collections, in the order in which they
	// were met. If there are any, this report is a summary: Timeline, Processes, Gaps,
	// TopProcesses and Findings are in the reports of the collections.
	Collections []*Report

	// Field is the field that was read.
	Field string
	// Partial is why the census ended before all sources were read, or empty.
	Partial string
	// ReferenceTime is [Options].Now.
	ReferenceTime time.Time
	// Sources are what was read, in the order given.
	Sources []*Source

	// IDs is how many ObjectIds were counted, Distinct how many different ones,
	// and Repeated how many of those occur more than once.
	IDs      int64
	Distinct int64
	Repeated int64
	// Strings is how many of IDs are no ObjectIds but strings of 24 hexadecimal
	// digits: all of them, in a collection without a single ObjectId, or 0.
	Strings int64
	// Outside is how many ids were not counted because they are outside the range.
	Outside int64
	// Others are the values that are not ObjectIds, by type, most frequent first,
	// and Without is how many documents or rows lack the field.
	Others  []Other
	Without int64

	// First and Last are the earliest and the latest creation time that is
	// neither before 2009 nor in the future; nil without such an id.
	First *time.Time
	Last  *time.Time
	// Timeline is when the ids were created.
	Timeline Timeline

	// Processes is how many processes created the ids, as far as process values
	// and counters show, and TopProcesses are those with the most ids, followed by some
	// of the others of which something was found. Gaps is the sum of Process.Gaps over
	// all of them.
	Processes    int64
	Gaps         int64
	TopProcesses []Process

	// Doubts are the breaks of process values of which cannot be told whether they are
	// a fault, by kind, most processes first. It is empty if all breaks are explained.
	Doubts []Doubt

	// Events are what happened, in order of time.
	Events []Event
	// ShortestOutage is how long a silence in the busiest and in the quietest hours of
	// the week must be to be told from chance; zero if that is not known.
	ShortestOutage [2]time.Duration

	// Findings are what deserves attention. It is empty if nothing does.
	Findings []Finding
}

// Timeline counts ids by creation time.
type Timeline struct {
	By Interval
	// Chosen is true if By was chosen to fit.
	Chosen bool
	// Zone is the time zone in which days and longer buckets begin.
	Zone string
	// Buckets are consecutive, and the last one ends at End.
	Buckets []Bucket
	End     time.Time
	// Beyond is how many ids are in no bucket: those from before 2009 or from
	// the future and, if the interval was chosen to fit, a few that are far from all
	// others.
	Beyond int64
}

// Bucket is a part of a timeline. It ends where the next one starts.
type Bucket struct {
	Start time.Time // with the offset of the timeline's zone
	IDs   int64
}

// Process is the ids that have one process value, or several if a counter continues
// from one into the next.
type Process struct {
	// Value is the process value, the bytes of an id between time and counter,
	// as ten hexadecimal digits.
	Value string
	// Name is the result of [ReportOptions].Name.
	Name string
	// Values is how many process values it used: more than one if its counter
	// continued in the values after Value.
	Values int
	// IDs is how many different ids it created.
	IDs   int64
	First time.Time
	Last  time.Time
	// Gaps is how many counter values between its first and its last id are not
	// in the data: they were used for other ids, for documents that are deleted,
	// or not at all. Steps of more than 2^20 are not in Gaps but are counted as
	// Jumps: the process was restarted, or created many ids elsewhere. Both are
	// unknown, and 0, if the value is Shared or its counters are NoSequence.
	Gaps  int64
	Jumps int64
	// ClockStepped is true if the clock was set backwards, Shared if several processes
	// used the value at the same time, and Resumed if a saved state of the process was
	// resumed later, so that it used its counters again. NoSequence is true if the
	// counters of most of its ids do not follow those of others.
	ClockStepped bool
	Shared       bool
	Resumed      bool
	NoSequence   bool
	// Doubt is why it cannot be told whether there is another fault, or empty.
	Doubt DoubtKind
	// Timeline is the number of its ids in each bucket of the report's timeline.
	Timeline []int64
}

// Findings returns what was found of p: the kinds of findings that count it.
func (p *Process) Findings() (all []Kind) {
	for _, f := range []struct {
		found bool
		kind  Kind
	}{{p.Shared, KindSharedValue}, {p.ClockStepped, KindClockStep}, {p.Resumed, KindResumed}, {p.NoSequence, KindNoSequence}} {
		if f.found {
			all = append(all, f.kind)
		}
	}
	return all
}

// Report returns the report. It may be called again, also after more sources have
// been read. The error wraps [ErrTooFine], or names an interval that is not in [Intervals].
//
// The report of several collections is a summary, with a report of each in
// Collections.
func (c *Census) Report(o *ReportOptions) (*Report, error) {
	options := o.withDefaults()
	if err := c.settle(); err != nil {
		return nil, err
	}
	collections := c.used()
	if len(collections) == 0 {
		collections = []*collection{newCollection("", new(idset.Space))} // nothing could be read
	}
	var reports []*Report
	for _, l := range collections {
		r, err := c.report(l, options)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	if len(reports) == 1 {
		reports[0].Sources = c.sources
		return reports[0], nil
	}
	return c.summary(reports, options), nil
}

// settle prepares c for being judged, after the last source or the last so far.
func (c *Census) settle() error {
	for _, s := range c.sources {
		_, which := s.collection.judged()
		s.IDs = s.found[which]
	}
	return c.space.Settle()
}

// used returns the collections into which something was read, and those with a name that are
// empty. An archive has one to which nothing belongs.
func (c *Census) used() (out []*collection) {
	for _, l := range c.collections {
		if l.found[0].taken > 0 || slices.ContainsFunc(l.sources, func(s *Source) bool { return s.Units > 0 || l.name != "" && s.Collections == 0 }) {
			out = append(out, l)
		}
	}
	return out
}

// report returns the report of one collection.
func (c *Census) report(l *collection, options ReportOptions) (*Report, error) {
	ids, which := l.judged()
	t, err := ids.analyse(&c.options, options.By, options.Zone, options.Top)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Collection: l.name, Partial: c.partial,
		Field: c.options.Field, ReferenceTime: c.options.Now.UTC(), Sources: l.sources,
		IDs: t.ids, Distinct: t.distinct, Repeated: t.repeated, Outside: ids.outside,
		Processes: t.processes, Gaps: t.gaps,
		Timeline: Timeline{By: t.axis.interval, Chosen: options.By == IntervalAuto, Zone: options.Zone.String(), Beyond: t.off},
		Others:   otherValues(l.sources),
	}
	t.trim()
	r.Timeline.End = time.Unix(t.axis.starts[len(t.counts)], 0).In(options.Zone)
	for i, n := range t.counts {
		r.Timeline.Buckets = append(r.Timeline.Buckets, Bucket{time.Unix(t.axis.starts[i], 0).In(options.Zone), n})
	}
	if !ids.plausible.empty() {
		first, last := moment(ids.plausible.first), moment(ids.plausible.last)
		r.First, r.Last = &first, &last
	}
	if which == hexStrings {
		r.Strings = t.ids
	}
	for _, s := range l.sources {
		r.Without += s.Without
	}
	for i := range t.top {
		r.TopProcesses = append(r.TopProcesses, c.process(t, &t.top[i], options.Name))
	}
	for i := range t.faulty {
		if p := c.process(t, &t.faulty[i], options.Name); len(p.Findings()) > 0 && !slices.ContainsFunc(r.TopProcesses, func(q Process) bool { return q.Value == p.Value }) {
			r.TopProcesses = append(r.TopProcesses, p)
		}
	}
	r.Doubts = c.doubts(t)
	r.Events, r.ShortestOutage = t.history.events(options.Zone)
	r.Events = append(r.Events, t.faultEvents()...)
	slices.SortStableFunc(r.Events, func(a, b Event) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Kind, b.Kind)) })
	r.Findings = append(r.Findings, c.findings(l, t, r)...)
	return r, nil
}

// summary returns the report above the reports of several collections. A process has
// ids in several of them, so its gaps in one are ids in another: processes are not
// counted together.
func (c *Census) summary(reports []*Report, options ReportOptions) *Report {
	sum := &Report{
		Partial: c.partial,
		Field:   c.options.Field, ReferenceTime: c.options.Now.UTC(), Sources: c.sources, Collections: reports,
		Timeline: Timeline{By: options.By, Zone: options.Zone.String()},
		Others:   otherValues(c.sources),
	}
	for _, r := range reports {
		sum.IDs += r.IDs
		sum.Distinct += r.Distinct
		sum.Repeated += r.Repeated
		sum.Strings += r.Strings
		sum.Outside += r.Outside
		sum.Without += r.Without
		if r.First != nil && (sum.First == nil || r.First.Before(*sum.First)) {
			sum.First = r.First
		}
		if r.Last != nil && (sum.Last == nil || r.Last.After(*sum.Last)) {
			sum.Last = r.Last
		}
	}
	return sum
}

// moment returns the time of a second.
func moment(second uint32) time.Time { return time.Unix(int64(second), 0).UTC() }

// process describes p for a report.
func (c *Census) process(t *tally, p *process, name func(objectid.ID) string) Process {
	need, _ := t.suspects.need(t.broken)
	out := Process{
		Value: processText(p.value), Values: p.values, IDs: p.ids, First: moment(p.first), Last: moment(p.last),
		Gaps: p.gaps, Jumps: p.jumps, Timeline: p.timeline[t.trimmed:][:t.axis.buckets()],
		Shared: p.found[shared].bits >= need, ClockStepped: p.found[stepped].bits >= need, Resumed: p.found[resumed].bits >= need,
		NoSequence: p.found[noSequence].bits >= need, Doubt: t.doubtOf(p),
	}
	if out.Shared || out.NoSequence {
		out.Gaps, out.Jumps = 0, 0
	}
	if name != nil {
		out.Name = name(p.begin.ID())
	}
	return out
}

// processText returns a process value as ten hexadecimal digits.
func processText(value uint64) string {
	return fmt.Sprintf("%010x", value)
}
