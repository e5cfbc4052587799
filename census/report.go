package census

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/objectid"
)

// View says what a [Report] shows of a census. The zero View, like a nil pointer,
// is ready to use.
type View struct {
	// By is the length of the timeline's buckets. Default: chosen to fit.
	By Step

	// Zone is the time zone of the timeline. Default: UTC.
	Zone *time.Location

	// Top is how many writers are listed, those with the most ids. Default: 10.
	// Negative: all of them.
	Top int

	// Name, if not nil, returns a name for the maker of an id, or "" if it knows
	// none. It is asked once for each writer that is listed.
	Name func(objectid.ID) string
}

func (v *View) withDefaults() View {
	var out View
	if v != nil {
		out = *v
	}
	if out.By == "" {
		out.By = AnyStep
	}
	if out.Zone == nil {
		out.Zone = time.UTC
	}
	switch {
	case out.Top == 0:
		out.Top = 10
	case out.Top < 0:
		out.Top = 0
	}
	return out
}

// Report is what a census tells. Its JSON form is meant to be read by programs:
// fields may be added to it, but none changes its name or meaning.
type Report struct {
	// Field is the field that was read.
	Field string `json:"field"`
	// Now is the time that ids were held against.
	Now time.Time `json:"now"`
	// Sources are what was read, in the order given.
	Sources []*Source `json:"sources"`

	// IDs is how many ObjectIds were counted, Distinct how many different ones,
	// and Repeated how many of those are there more than once.
	IDs      int64 `json:"ids"`
	Distinct int64 `json:"distinct"`
	Repeated int64 `json:"repeated"`
	// Outside is how many were left out because they lie outside the range.
	Outside int64 `json:"outside"`
	// Others are the values that are not ObjectIds, by type, most first, and
	// Without is how many documents or rows lack the field.
	Others  []Other `json:"others"`
	Without int64   `json:"without"`

	// First and Last are the earliest and the latest creation time that is
	// neither before 2009 nor in the future; null without such an id.
	First *time.Time `json:"first"`
	Last  *time.Time `json:"last"`
	// Timeline is when the ids were made.
	Timeline Timeline `json:"timeline"`

	// WriterCount is how many process values made the ids, and Writers are those
	// with the most ids. Missing is Writer.Missing of all of them.
	WriterCount int64    `json:"writerCount"`
	Missing     int64    `json:"missing"`
	Writers     []Writer `json:"writers"`

	// Findings are what is wrong, or may be; none is good news.
	Findings []Finding `json:"findings"`
}

// Other is a type of value that is not an ObjectId.
type Other struct {
	// Type is MongoDB's name of the BSON type; "uuid" for binary data that is
	// one, "string of 24 hex digits" for a string that looks like an id, and
	// "text" where the format knows no types.
	Type     string  `json:"type"`
	Count    int64   `json:"count"`
	Examples []Value `json:"examples"`
}

// Timeline counts ids by the time they were made.
type Timeline struct {
	By Step `json:"by"`
	// Zone is the time zone in which days and longer buckets begin.
	Zone string `json:"zone"`
	// Buckets follow one another without a hole.
	Buckets []Bucket `json:"buckets"`
	// Beyond is how many ids are in no bucket: those from before 2009 or from
	// the future and, if the step was chosen to fit, a few that are far from all
	// others.
	Beyond int64 `json:"beyond"`
}

// Bucket is a stretch of a timeline: it lasts until the next one starts.
type Bucket struct {
	Start time.Time `json:"start"`
	IDs   int64     `json:"ids"`
}

// Writer is one process value: the bytes of an id between time and counter.
type Writer struct {
	// Process is the value as ten hexadecimal digits.
	Process string `json:"process"`
	// Name is what the registry calls it, if it was asked and knows.
	Name string `json:"name,omitempty"`
	// Values is how many process values it used: more than one if its counter
	// went on into the values after Process.
	Values int `json:"values"`
	// IDs is how many different ids it made.
	IDs   int64     `json:"ids"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Missing is how many values its counter passed between its first and its
	// last id that are not here: ids that it made for something else, or that
	// were deleted. Steps of more than 2^20 are not in it but are counted as
	// Jumps: a restart, or a long absence. Of a Shared value neither is known;
	// both are 0.
	Missing int64 `json:"missing"`
	Jumps   int64 `json:"jumps"`
	// Layout is what the value most likely is: modern, classic or java.
	Layout objectid.Layout `json:"layout"`
	// Stepped says that its clock stepped back, and Shared that several
	// processes used the value at the same time.
	Stepped bool `json:"stepped,omitempty"`
	Shared  bool `json:"shared,omitempty"`
	// Timeline is the number of its ids in each bucket of the report's timeline.
	Timeline []int64 `json:"timeline"`
}

// Report makes the report. It may be called again, also after more sources have
// been read. The error wraps [ErrTooFine].
func (c *Census) Report(v *View) (*Report, error) {
	view := v.withDefaults()
	t, err := c.analyse(view.By, view.Zone, view.Top)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Field: c.options.Field, Now: c.options.Now.UTC(), Sources: c.sources,
		IDs: t.ids, Distinct: t.distinct, Repeated: t.repeated, Outside: c.outside,
		WriterCount: t.writers, Missing: t.missing,
		Timeline: Timeline{By: t.axis.step, Zone: view.Zone.String(), Beyond: t.off},
		Writers:  []Writer{}, Others: []Other{}, Findings: []Finding{},
	}
	t.trim()
	for i, n := range t.counts {
		r.Timeline.Buckets = append(r.Timeline.Buckets, Bucket{time.Unix(t.axis.starts[i], 0).In(view.Zone), n})
	}
	if c.first <= c.last {
		first, last := moment(c.first), moment(c.last)
		r.First, r.Last = &first, &last
	}
	for k := range source.TypeCount {
		other := Other{Type: k.String()}
		for _, s := range c.sources {
			other.Count += s.others[k]
			if room := source.MaxSamples - len(other.Examples); room > 0 {
				other.Examples = append(other.Examples, s.samples[k][:min(room, len(s.samples[k]))]...)
			}
		}
		if other.Count > 0 {
			r.Others = append(r.Others, other)
		}
	}
	sortOthers(r.Others)
	for _, s := range c.sources {
		r.Without += s.Without
	}
	for _, w := range t.top {
		r.Writers = append(r.Writers, c.writer(t, w, view.Name))
	}
	r.Findings = append(r.Findings, c.findings(t, r)...)
	return r, nil
}

// sortOthers puts the types with most values first.
func sortOthers(others []Other) {
	slices.SortStableFunc(others, func(a, b Other) int { return -cmp.Compare(a.Count, b.Count) })
}

// moment returns the time of a second.
func moment(second uint32) time.Time { return time.Unix(int64(second), 0).UTC() }

// writer describes w for a report.
func (c *Census) writer(t *tally, w writer, name func(objectid.ID) string) Writer {
	out := Writer{
		Process: processText(w.process), Values: 1 + len(w.more), IDs: w.ids, First: moment(w.first), Last: moment(w.last),
		Missing: w.missing, Jumps: w.jumps, Layout: guessLayout(w, t.writers), Stepped: w.stepped, Shared: w.shared,
		Timeline: make([]int64, t.axis.buckets()),
	}
	if name != nil {
		out.Name = name(w.list.at(w.i).id())
	}
	for _, p := range append([]part{w.part}, w.more...) {
		t.axis.countDistinct(out.Timeline, p)
	}
	return out
}

func processText(process uint64) string {
	b := [5]byte{byte(process >> 32), byte(process >> 24), byte(process >> 16), byte(process >> 8), byte(process)}
	return hex.EncodeToString(b[:])
}

// Broken reports whether something could not be read: a source that was not read
// to its end, or documents or lines that were passed over.
func (r *Report) Broken() bool {
	for _, s := range r.Sources {
		if s.Error != "" || s.Broken > 0 {
			return true
		}
	}
	return false
}

// String returns "source: line 7", with the collection if there is one.
func (p Position) String() string {
	if p.Collection != "" {
		return fmt.Sprintf("%s %s: %s %d", p.Source, p.Collection, p.Unit, p.Number)
	}
	return fmt.Sprintf("%s: %s %d", p.Source, p.Unit, p.Number)
}
