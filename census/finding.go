package census

import (
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/objectid"
)

// Kind says what a [Finding] is about.
type Kind string

// The kinds of findings.
const (
	// Duplicate is an id that is there more than once.
	Duplicate Kind = "duplicate"
	// SharedWriter is a process value that several processes used at once.
	SharedWriter Kind = "shared-writer"
	// ClockBack is a writer whose clock stepped back by two seconds or more.
	ClockBack Kind = "clock-back"
	// Future is an id more than five minutes ahead of the clock.
	Future Kind = "future"
	// TooEarly is an id from before 2009, when there was no MongoDB.
	TooEarly Kind = "too-early"
	// Bound is an id that is only a time: the other eight bytes are all 00 or FF.
	Bound Kind = "bound"
	// Disorder is an id that stands behind 16 or more that are more than a
	// minute younger.
	Disorder Kind = "disorder"
	// MixedTypes is a field that holds other types besides ObjectIds.
	MixedTypes Kind = "mixed-types"
)

// Finding is something that is wrong, or may be.
type Finding struct {
	Kind Kind `json:"kind"`
	// Count is how many ids it concerns; of SharedWriter and ClockBack how many
	// writers.
	Count int64 `json:"count"`
	// Title says what was found, Meaning what it may mean and what to do.
	Title   string `json:"title"`
	Meaning string `json:"meaning"`
	// Examples are some of the ids concerned.
	Examples []Example `json:"examples"`
}

// Example is an id that shows a [Finding].
type Example struct {
	ID objectid.ID `json:"id"`
	// Time is when the id says that it was made.
	Time     time.Time `json:"time"`
	Position Position  `json:"position"`
	// Note says what the example shows, or is empty.
	Note string `json:"note,omitempty"`
}

func (c *Census) example(r record, note string) Example {
	return Example{r.id(), moment(r.second()), c.position(r.place()), note}
}

func (c *Census) examples(records []record) []Example {
	var out []Example
	for _, r := range records {
		out = append(out, c.example(r, ""))
	}
	return out
}

// findings says what is wrong.
func (c *Census) findings(t *tally, r *Report) []Finding {
	var out []Finding
	add := func(k Kind, n int64, title, meaning string, examples []Example) {
		if examples == nil {
			examples = []Example{}
		}
		if n > 0 {
			out = append(out, Finding{k, n, title, meaning, examples})
		}
	}
	if c.unique() {
		add(Duplicate, t.repeated,
			fmt.Sprintf("%s more than once", plural(t.repeated, "id is there", "ids are there")),
			"In one collection this cannot be: the same source was given twice, parts of an export overlap, or two processes made the same ids; compare the documents before one replaces the other.",
			c.examples(t.duplicates.examples))
	}
	c.writerFindings(t, add)
	add(Future, t.future.count,
		fmt.Sprintf("%s made in the future", plural(t.future.count, "id was", "ids were")),
		"A writer's clock was ahead, or these are not ids of a driver; set the clock by NTP, and do not expect time ranges to find these documents.",
		c.examples(t.future.examples))
	add(TooEarly, t.early.count,
		fmt.Sprintf("%s from before 2009, when there was no MongoDB", plural(t.early.count, "id is", "ids are")),
		"A clock was not set, or the ids were made by hand or from other numbers; do not take their times for real.",
		c.examples(t.early.examples))
	add(Bound, t.bounds.count,
		fmt.Sprintf("%s only a time, without a process and a counter", plural(t.bounds.count, "id is", "ids are")),
		"Such ids are made to compare with, as the ends of a time range; stored, two made for the same second collide: find the code that stores them.",
		c.examples(t.bounds.examples))
	if n := c.late.count; n > 0 {
		examples := append([]Example{c.example(c.late.latest, "late by "+humanSeconds(int64(c.late.most)))}, c.examples(c.late.examples)...)
		if len(examples) > 1 && examples[0].ID == examples[1].ID && examples[0].Position == examples[1].Position {
			examples = append(examples[:1], examples[2:]...)
		}
		add(Disorder, n,
			fmt.Sprintf("%s behind others that are more than a minute younger, up to %s", plural(n, "id stands", "ids stand"), humanSeconds(int64(c.late.most))),
			"The source is not in order of time: documents were stored long after their ids were made, by imports, queues or clocks that differ, or the export was sorted by something else; read by _id, not in natural order, when time matters.",
			examples[:min(len(examples), maxExamples)])
	}
	if c.unique() && t.ids > 0 && len(r.Others) > 0 {
		var n int64
		var types []string
		var examples []string
		for _, o := range r.Others {
			n += o.Count
			types = append(types, fmt.Sprintf("%d %s", o.Count, o.Type))
			if len(o.Examples) > 0 {
				examples = append(examples, fmt.Sprintf("%s (%v)", o.Examples[0].Text, o.Examples[0].Position))
			}
		}
		add(MixedTypes, n,
			fmt.Sprintf("%s beside the ObjectIds: %s", plural(n, "value of another type stands", "values of other types stand"), strings.Join(types, ", ")),
			"A query for one type never finds the other, and they sort apart; find out which program writes them, for example "+strings.Join(examples, ", ")+".",
			nil)
	}
	return out
}

// writerFindings says what is wrong with single writers.
func (c *Census) writerFindings(t *tally, add func(Kind, int64, string, string, []Example)) {
	var shared, stepped []Example
	for _, f := range t.faults {
		if f.shared {
			for _, r := range f.examples {
				shared = append(shared, c.example(r, "process "+processText(r.process())))
			}
			continue
		}
		for _, fl := range f.falls {
			back := int64(fl.before.second()) - int64(fl.after.second())
			stepped = append(stepped, c.example(fl.before, "before"), c.example(fl.after, "after: back by "+humanSeconds(back)))
		}
	}
	add(SharedWriter, t.shared,
		fmt.Sprintf("%s used by several processes at once", plural(t.shared, "process value was", "process values were")),
		"Their counters run side by side and will one day meet in the same second, which makes the same id twice: look for processes that were forked or cloned with their state, or for a value that is set by hand, and give each its own.",
		shared)
	add(ClockBack, t.stepped,
		fmt.Sprintf("%s a clock that stepped back", plural(t.stepped, "writer had", "writers had")),
		"The counter went on while the time fell, so these ids are not in the order in which they were made; let NTP slew the clock instead of stepping it, and expect time ranges around the step to be off.",
		stepped)
}

// unique reports whether an id should be there once only: as an _id, but not as
// a reference to one, or in a text.
func (c *Census) unique() bool {
	if c.options.Field != "_id" {
		return false
	}
	for _, s := range c.sources {
		if s.Format == source.Grep {
			return false
		}
	}
	return true
}

// plural returns n with the word that goes with it.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return group(n) + " " + many
}

// group writes n with commas between thousands.
func group(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// humanSeconds writes a length of time in its two largest units.
func humanSeconds(n int64) string {
	units := []struct {
		name    string
		seconds int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	var parts []string
	for _, u := range units {
		if v := n / u.seconds; v > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%d%s", v, u.name))
		} else if len(parts) > 0 {
			break
		}
		n %= u.seconds
	}
	if parts == nil {
		return "0s"
	}
	return strings.Join(parts, "")
}
