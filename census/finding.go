package census

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
)

// Kind is what a [Finding] is about.
type Kind string

const (
	// KindDuplicate: an id occurs more than once.
	KindDuplicate Kind = "duplicate"
	// KindOverflow: an id occurs again because a process created more than 2^24 ids in
	// a second.
	KindOverflow Kind = "counter-overflow"
	// KindValuePerID: a program draws a new process value for every id.
	KindValuePerID Kind = "value-per-id"
	// KindSharedValue: several processes used one process value at the same time.
	KindSharedValue Kind = "shared-process-value"
	// KindClockStep: the clock of a process was set backwards by two seconds or
	// more.
	KindClockStep Kind = "clock-step"
	// KindResumed: a process used counters again, later: a saved state was resumed.
	KindResumed Kind = "resumed-state"
	// KindNoSequence: the counters of a process value do not count: most of its ids
	// follow none of the others.
	KindNoSequence Kind = "no-sequence"
	// KindFuture: an id is more than five minutes ahead of the reference time.
	KindFuture Kind = "future"
	// KindTooEarly: an id is from before 2009, when MongoDB did not exist.
	KindTooEarly Kind = "too-early"
	// KindBound: an id has only a time. Its other eight bytes are all 00 or all FF.
	KindBound Kind = "bound"
	// KindDisorder: an id comes after 16 or more that were created over a minute
	// later.
	KindDisorder Kind = "disorder"
	// KindMixedTypes: the field has values of other types than ObjectId, too.
	KindMixedTypes Kind = "mixed-types"
)

// Kinds are all kinds, in the order of a report.
var Kinds = []Kind{
	KindDuplicate, KindOverflow, KindValuePerID, KindSharedValue, KindClockStep, KindResumed, KindNoSequence, KindFuture, KindTooEarly, KindBound, KindDisorder, KindMixedTypes,
}

// Finding is something in a census that deserves attention.
type Finding struct {
	Kind Kind
	// Count is how many ids are concerned; of KindSharedValue, KindClockStep,
	// KindResumed and KindNoSequence how many processes, and of KindMixedTypes how many values.
	Count int64
	// Title is what was found. Reason is why it matters, what may have caused it
	// and what to do.
	Title  string
	Reason string
	// Evidence is, of findings about processes, the numbers that show it of the process
	// of which it is the most certain, in one sentence; else empty.
	Evidence string
	// Examples are some of the ids concerned.
	Examples []Example
}

// Example is an id that shows a [Finding].
type Example struct {
	ID objectid.ID
	// Time is the creation time in the id.
	Time     time.Time
	Position Position
	// Note is what the example shows, or empty.
	Note string
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

// findings returns the findings of a report.
func (c *Census) findings(l *collection, t *tally, r *Report) []Finding {
	var out []Finding
	addWith := func(k Kind, n int64, title, reason, evidence string, examples []Example) {
		if examples == nil {
			examples = []Example{}
		}
		if n > 0 {
			out = append(out, Finding{k, n, title, reason, evidence, examples})
		}
	}
	add := func(k Kind, n int64, title, reason string, examples []Example) {
		addWith(k, n, title, reason, "", examples)
	}
	if l.unique(c.options.Field) {
		repeated := t.repeated - t.overflow.count
		add(KindDuplicate, repeated,
			phrase.Count(repeated, "id occurs", "ids occur")+" more than once",
			"An _id is unique within a collection: the same source was given twice, parts of an export overlap, or two processes created the same ids. Compare the documents before one replaces the other.",
			c.examples(t.duplicates.examples))
		add(KindOverflow, t.overflow.count,
			phrase.Count(t.overflow.count, "id occurs", "ids occur")+" again because a process created more than 16,777,216 ids in a second",
			"Its counter overflowed, and drivers then create the same ids again. Its clock may have stood still. Create fewer ids in a second with one process, or with a generator that does not repeat ids.",
			c.examples(t.overflow.examples))
	}
	c.processFindings(t, addWith)
	add(KindFuture, t.future.count,
		phrase.Count(t.future.count, "id has a creation time", "ids have creation times")+" in the future",
		"The clock of a process was ahead, or no driver generated these ids. Synchronize the clock with NTP. Time ranges do not find these documents.",
		c.examples(t.future.examples))
	add(KindTooEarly, t.early.count,
		phrase.Count(t.early.count, "id has a creation time", "ids have creation times")+" before 2009, when MongoDB did not exist",
		"A clock was not set, or the ids were written by hand or derived from other numbers. Their creation times are not reliable.",
		c.examples(t.early.examples))
	add(KindBound, t.bounds.count,
		phrase.Count(t.bounds.count, "id has", "ids have")+" only a time, no process value and no counter",
		"Such ids are bounds for queries by time. Stored as ids, two of the same second are equal: find the code that stores them.",
		c.examples(t.bounds.examples))
	if n := l.late.count; n > 0 {
		most := phrase.Length(time.Duration(l.late.most) * time.Second)
		examples := append([]Example{c.example(l.late.latest, "late by "+most)}, c.examples(l.late.examples)...)
		if len(examples) > 1 && examples[0].ID == examples[1].ID && examples[0].Position == examples[1].Position {
			examples = append(examples[:1], examples[2:]...)
		}
		add(KindDisorder, n,
			fmt.Sprintf("%s after others that were created more than a minute later, by up to %s", phrase.Count(n, "id comes", "ids come"), most),
			"The source is not in order of creation time. Documents were stored long after their ids were created, by imports, queues or clocks that differ, or the export is sorted by something else. Read in the order of _id, not in natural order, where time matters.",
			examples[:min(len(examples), maxExamples)])
	}
	if l.unique(c.options.Field) && t.ids > 0 && len(r.Others) > 0 {
		var n int64
		var types, examples []string
		for _, o := range r.Others {
			n += o.Count
			types = append(types, fmt.Sprintf("%d %s", o.Count, o.Type))
			if len(o.Examples) > 0 {
				examples = append(examples, fmt.Sprintf("%s (%v)", o.Examples[0].Text, o.Examples[0].Position))
			}
		}
		add(KindMixedTypes, n,
			fmt.Sprintf("%s beside the ObjectIds: %s", phrase.Count(n, "value of another type", "values of other types"), strings.Join(types, ", ")),
			"A query for one type never matches the other, and they are sorted apart. Find the program that writes them, for example "+strings.Join(examples, ", ")+".",
			nil)
	}
	return out
}

// faultTexts are the findings about single processes, by fault.
var faultTexts = [faults]struct {
	kind      Kind
	event     EventKind
	one, many string // after how many there are
	reason    string
	notes     [2]string // of two examples in turn
}{
	shared: {
		KindSharedValue, SharedValue, "process value was used by several processes at the same time", "process values were used by several processes at the same time",
		"The counters of these processes are independent. When two reach the same value in the same second, two ids are equal. Look for processes that were forked or cloned with their state, or for a process value that is configured by hand, and give each process its own.",
		[2]string{},
	},
	stepped: {
		KindClockStep, ClockStep, "process has a clock that was set backwards", "processes have clocks that were set backwards",
		"The order of these ids is not the order in which they were created. Let NTP slew the clock instead of stepping it. Time ranges near the step are not exact.",
		[2]string{"before", "after"},
	},
	resumed: {
		KindResumed, ResumedState, "process used the same counters again, later", "processes used the same counters again, later",
		"A saved state of the process was resumed: a snapshot of its machine, a restored checkpoint, or a counter that begins at a fixed value. If two such runs create ids in the same second, ids are equal. Restart programs after a snapshot is restored.",
		[2]string{"before", "uses counters again"},
	},
	noSequence: {
		KindNoSequence, NoSequence, "process value has counters that do not count", "process values have counters that do not count",
		"No process restarts that often. The counters are random numbers, very many processes share the value, or the ids were written by hand. Equal ids are then a matter of chance: use a generator that counts.",
		[2]string{},
	},
}

// processFindings adds the findings about single processes.
func (c *Census) processFindings(t *tally, add func(Kind, int64, string, string, string, []Example)) {
	need, _ := t.suspects.need(t.broken)
	for f, text := range faultTexts {
		count, found := t.suspects.found[f].between(need, maxBits+1)
		if count == 0 {
			continue
		}
		var examples []Example
		for _, e := range found {
			for i, r := range e.examples {
				if i > 0 && r == e.examples[0] {
					continue
				}
				note := text.notes[i%2]
				if note == "" {
					note = "process value " + processText(r.value())
				}
				examples = append(examples, c.example(r, note))
			}
		}
		evidence := fmt.Sprintf("Process value %s: %s", processText(found[0].examples[0].value()), found[0].text)
		if bits := found[0].bits; bits < maxBits {
			evidence += fmt.Sprintf(" Restarts do that by chance once in %s process values.", humanize.Comma(1<<min(bits, 62)))
		}
		add(text.kind, count, phrase.Count(count, text.one, text.many), text.reason, evidence, examples)
	}
	ids, sequences, chains := t.singles.chains()
	var single []Example
	for _, records := range chains {
		single = append(single, c.example(records[0], "process value "+processText(records[0].value())),
			c.example(records[1], "the next counter, but process value "+processText(records[1].value())))
	}
	about := ""
	if t.singles.shift > 0 {
		about = "about "
	}
	add(KindValuePerID, ids,
		fmt.Sprintf("%s%s a process value of %s own, though their counters make %s", about, phrase.Count(ids, "id has", "ids have"),
			map[bool]string{true: "its", false: "their"}[ids == 1], phrase.Count(sequences, "sequence", "sequences")),
		"A program draws a new process value for every id: a driver in a forked child, or one that finds no process. Two of them create the same id if value and counter meet. The number of processes counts each of these values. Update the driver, or create its generator once after the fork.",
		"", single)
}
