package census

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
)

// Kind is the kind of a [Finding] or of an [Event].
type Kind string

const (
	// KindDuplicate: an id occurs more than once.
	KindDuplicate Kind = "duplicate"
	// KindValuePerID: a program uses a new process value for every id.
	KindValuePerID Kind = "value-per-id"
	// KindSharedValue: several processes used one process value at the same time.
	KindSharedValue Kind = "shared-process-value"
	// KindClockStep: the clock of a process was set backwards by two seconds or more.
	KindClockStep Kind = "clock-step"
	// KindResumed: a process used the same counters a second time, because its saved state
	// was resumed, for example from a snapshot of its machine.
	KindResumed Kind = "resumed-state"
	// KindNoSequence: the counters of a process value do not count up. Most ids do not have
	// a counter that follows the counter of another id.
	KindNoSequence Kind = "no-sequence"
	// KindNoTime: ids hold no creation time. They are random from end to end, parts of
	// hashes, or written by hand.
	KindNoTime Kind = "no-time"
	// KindFuture: an id was created more than five minutes after the reference time.
	KindFuture Kind = "future"
	// KindTooEarly: an id was created before 2009, when MongoDB did not exist.
	KindTooEarly Kind = "too-early"
	// KindBound: an id is a bound for queries by time. Its eight bytes after the time are
	// all 00 or all FF.
	KindBound Kind = "bound"
	// KindMixedTypes: the field contains ObjectIds and values of other types.
	KindMixedTypes Kind = "mixed-types"
)

type kindTexts struct {
	kind      Kind
	counts    string // what Finding.Count counts
	one, many string // the title after the number; details follow it
	reason    string
}

// kinds are the texts of all kinds, in the order of a report.
var kinds = []kindTexts{
	{
		KindDuplicate, "ids", "id occurs more than once", "ids occur more than once",
		"An _id is unique within a collection. Either the same source was given twice, parts of an export overlap, the file keeps every change of a document, as an oplog or a file of NeDB does, two processes created the same ids, or one process created more than 16,777,216 ids in a second. Compare the documents before one replaces the other.",
	},
	{
		KindSharedValue, "processes", "process value was used by several processes at the same time", "process values were used by several processes at the same time",
		"The counters of these processes are independent. When two reach the same value in the same second, two ids are equal. Look for processes that were forked or cloned with their state, or for a process value that is configured by hand, and give each process its own.",
	},
	{
		KindClockStep, "processes", "process has a clock that was set backwards", "processes have clocks that were set backwards",
		"The order of these ids is not the order in which they were created. Let NTP slew the clock instead of stepping it. Time ranges near the step are not exact.",
	},
	{
		KindResumed, "processes", "process used the same counters again, later", "processes used the same counters again, later",
		"A saved state of the process was resumed: a snapshot of its machine, a restored checkpoint, or a counter that begins at a fixed value. If two such runs create ids in the same second, ids are equal. Restart programs after a snapshot is restored.",
	},
	{
		KindNoSequence, "processes", "process value has counters that do not count up", "process values have counters that do not count up",
		"No process restarts that often. Either the counters are random numbers, very many processes share the value, or the ids were written by hand. Two such ids may be equal by chance. Use a generator that counts up.",
	},
	{
		KindValuePerID, "ids", "id has a process value of its own, but their counters form", "ids have a process value of their own, but their counters form",
		"A program uses a new process value for every id, for example a driver in a forked child process. Two such programs create the same id if process value and counter are equal within a second. In this report each of these values counts as a process. Update the driver, or create its generator only once, after the fork.",
	},
	{
		KindNoTime, "ids", "id holds no creation time", "ids hold no creation time",
		"Their times are spread over the years from 1970 to 2106, as those of random numbers are. Such ids are random from end to end, as Meteor makes them, or parts of hashes, or written by hand. The timeline, the events and the processes of this report leave them out. Queries by the time of an id do not work for them, and their order is not the order of creation: store the creation time in a field.",
	},
	{
		KindFuture, "ids", "id has a creation time in the future", "ids have creation times in the future",
		"The clock of a process was ahead, or no driver generated these ids. Synchronize the clock with NTP. A range that ends now does not find these documents.",
	},
	{
		KindTooEarly, "ids", "id has a creation time before 2009, when MongoDB did not exist", "ids have creation times before 2009, when MongoDB did not exist",
		"A clock was not set, or the ids were written by hand or derived from other numbers. Do not rely on their creation times.",
	},
	{
		KindBound, "ids", "id has only a time, no process value and no counter", "ids have only a time, no process value and no counter",
		"Such ids are meant as bounds in queries by time. If they are stored, two of the same second are equal. Find the code that stores them.",
	},
	{
		KindMixedTypes, "values", "value is not an ObjectId:", "values are not ObjectIds:",
		"A query for a value of one type never matches a value of another type, and each type is sorted apart. Find the program that writes these values.",
	},
}

// Kinds returns the kinds of findings, in the order in which a report lists them.
func Kinds() []Kind { return each.Of(kinds, func(k kindTexts) Kind { return k.kind }) }

// texts returns the texts of k.
func (k Kind) texts() *kindTexts {
	return &kinds[slices.IndexFunc(kinds, func(t kindTexts) bool { return t.kind == k })]
}

// Counts returns what Finding.Count counts for findings of kind k: "ids", "processes" or
// "values".
func (k Kind) Counts() string { return k.texts().counts }

// Finding is something in a census that deserves attention.
type Finding struct {
	Kind Kind
	// Count is the number of ids, processes or values with the finding; [Kind.Counts]
	// tells which of the three.
	Count int64
	// Title says what was found. Reason says why it matters, what may have caused it and
	// what to do.
	Title  string
	Reason string
	// Evidence has the numbers of the most certain case if the finding is about single
	// processes, and the numbers of a finding of [KindNoTime]. For other findings it is empty.
	Evidence string
	// Examples are a few ids that the finding is about. A finding of [KindMixedTypes] has
	// none: see Report.Others.
	Examples []Example
}

// newFinding returns a finding with the count n and with details after the title.
func newFinding(k Kind, n int64, details string, examples []Example) Finding {
	text := k.texts()
	return Finding{Kind: k, Count: n, Title: phrase.Count(n, text.one, text.many) + details, Reason: text.reason, Examples: examples}
}

// Example is an id in the data that illustrates a [Finding], a [Doubt] or a [Difference].
type Example struct {
	ID objectid.ID
	// Time is the creation time of the id. It is zero if the id holds none.
	Time     time.Time
	Position Position
	// Note says what the example shows. It may be empty.
	Note string
}

func (c *Census) example(r idset.Record, note string) Example {
	return Example{r.ID(), moment(r.Second()), c.position(r.Place()), note}
}

func (c *Census) examples(records []idset.Record) []Example {
	return each.Of(records, func(r idset.Record) Example { return c.example(r, "") })
}

// findings returns the findings of a report.
func (c *Census) findings(l *collection, t *tally, r *Report) []Finding {
	var out []Finding
	add := func(k Kind, n int64, examples []idset.Record) {
		if n > 0 {
			out = append(out, newFinding(k, n, "", c.examples(examples)))
		}
	}
	if l.unique(c.options.Field) {
		add(KindDuplicate, t.repeated, t.duplicates.examples)
	}
	out = append(out, c.processFindings(t)...)
	add(KindNoTime, t.timeless.count, t.timeless.examples)
	if t.timeless.count > 0 {
		f := &out[len(out)-1]
		f.Evidence = t.scanned.evidence(t.left)
		for i := range f.Examples {
			f.Examples[i].Time = time.Time{}
		}
	}
	add(KindFuture, t.future.count, t.future.examples)
	add(KindTooEarly, t.early.count, t.early.examples)
	add(KindBound, t.bounds.count, t.bounds.examples)
	if l.unique(c.options.Field) && t.ids > 0 && len(r.Others) > 0 {
		var n int64
		var types []string
		for _, o := range r.Others {
			n += o.Count
			types = append(types, fmt.Sprintf("%d %s", o.Count, o.Type))
		}
		out = append(out, newFinding(KindMixedTypes, n, " "+strings.Join(types, ", "), nil))
	}
	return out
}

// faultKinds are the kinds of findings and events about single processes, by fault.
var faultKinds = [faults]struct {
	kind  Kind
	notes [2]string // for the first and the second example of each pair
}{
	shared:     {KindSharedValue, [2]string{}},
	stepped:    {KindClockStep, [2]string{"before", "after"}},
	resumed:    {KindResumed, [2]string{"before", "uses counters again"}},
	noSequence: {KindNoSequence, [2]string{}},
}

// pidMask selects the process id from a process value of the classic layout.
const pidMask = 1<<16 - 1

// containers follows the reason of a shared process value with process id 1.
const containers = " A value that ends in 0001 usually comes from containers: older drivers (bson-ruby until 2024; Java and Python until 2018) form it from three bytes of the host and the process id, each container runs its program as process 1, and containers with the same host name or network addresses have equal host bytes. Give each container a host name of its own, or use a driver that draws random process values."

// processFindings returns the findings about process values: those about single ones, and
// the one about programs that use a new process value for every id.
func (c *Census) processFindings(t *tally) (out []Finding) {
	need, _ := t.suspects.need(t.broken)
	for f, of := range faultKinds {
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
				examples = append(examples, c.example(r, cmp.Or(of.notes[i%2], "process value "+processText(r.Value()))))
			}
		}
		finding := newFinding(of.kind, count, "", examples)
		finding.Evidence = fmt.Sprintf("Process value %s: %s", processText(found[0].examples[0].Value()), found[0].text)
		if bits := found[0].bits; bits < maxBits {
			finding.Evidence += fmt.Sprintf(" Restarts cause this by chance in one of %s process values.", humanize.Comma(1<<min(bits, 62)))
		}
		if fault(f) == shared && slices.ContainsFunc(found, func(e evidence) bool { return e.examples[0].Value()&pidMask == 1 }) {
			finding.Reason += containers
		}
		out = append(out, finding)
	}
	if t.chained.ids == 0 {
		return out
	}
	var single []Example
	for _, records := range t.chained.examples {
		single = append(single, c.example(records[0], "process value "+processText(records[0].Value())),
			c.example(records[1], "the next counter, but process value "+processText(records[1].Value())))
	}
	finding := newFinding(KindValuePerID, t.chained.ids, " "+phrase.Count(t.chained.sequences, "sequence", "sequences"), single)
	if t.chained.isEstimate {
		finding.Title = "about " + finding.Title
	}
	return append(out, finding)
}

// DoubtKind is the reason why a census cannot tell whether a process has a fault.
type DoubtKind string

const (
	// DoubtFewIDs: the data contain too few ids of the process to follow its counter.
	DoubtFewIDs DoubtKind = "few-ids"
	// DoubtWeak: the evidence of a fault is weak. Chance might cause it.
	DoubtWeak DoubtKind = "weak-evidence"
	// DoubtBlocks: either the process has a fault, or its threads reserve counters in
	// blocks, which looks the same.
	DoubtBlocks DoubtKind = "blocks"
	// DoubtNoTime: ids may hold no creation time, see [KindNoTime], or clocks were wrong.
	DoubtNoTime DoubtKind = "no-time"
	// DoubtNoSequence: most ids do not have a counter that follows the counter of another
	// id. The program may be started for every id, or draw random counters.
	DoubtNoSequence DoubtKind = "no-sequence"
)

// doubtReasons are the ends of the sentences in Doubt.Reason.
var doubtReasons = [...]struct {
	kind   DoubtKind
	reason string
}{
	{DoubtFewIDs, "too few of the ids with their process value are in this data to follow the counter"},
	{DoubtWeak, "restarts at random counters may look the same, but rarely do"},
	{DoubtBlocks, "threads that reserve counters in blocks look the same"},
	{DoubtNoSequence, "most of their counters do not continue another one; the program may be started for every id, or draw random counters"},
}

// Doubt is a reason why a census cannot tell whether some processes have a fault. Their
// counters have breaks, but the counters of healthy processes may have such breaks, too.
type Doubt struct {
	Kind DoubtKind
	// Processes is the number of processes that the doubt concerns.
	Processes int64
	// Reason says in one sentence what cannot be told, and why.
	Reason string
	// Examples are ids of a few of these processes.
	Examples []Example
}

// doubts returns the doubts about the processes of a tally.
func (c *Census) doubts(t *tally) (out []Doubt) {
	proof, weak := t.suspects.need(t.broken)
	for i, d := range doubtReasons {
		from := 0
		if d.kind == DoubtWeak {
			from = weak
		}
		n, examples := t.suspects.doubts[i].between(min(from, proof), proof)
		if n == 0 {
			continue
		}
		one := Doubt{d.kind, n, "whether " + phrase.Count(n, "process has", "processes have") + " a fault: " + d.reason, nil}
		for _, e := range examples {
			one.Examples = append(one.Examples, c.example(e.examples[0], ""))
		}
		out = append(out, one)
	}
	if t.isDoubtful {
		n, _ := t.scanned.impossible.sum(1)
		out = append(out, Doubt{DoubtNoTime, n, "whether " + phrase.Count(n, "id holds", "ids hold") + " a creation time: their impossible times differ by years, but random numbers and wrong clocks may both cause that in so few ids", c.examples(slices.Concat(t.early.examples, t.future.examples))})
	}
	slices.SortStableFunc(out, func(a, b Doubt) int { return cmp.Compare(b.Processes, a.Processes) })
	return out
}

// doubtOf returns the kind of doubt about a process, or "" for none.
func (t *tally) doubtOf(p *process) DoubtKind {
	switch proof, weak := t.suspects.need(t.broken); {
	case p.bits() >= proof:
		return ""
	case p.doubt == "" && p.bits() >= weak:
		return DoubtWeak
	}
	return p.doubt
}
