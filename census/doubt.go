package census

import (
	"cmp"
	"slices"

	"github.com/oidkit/oid/internal/phrase"
)

// DoubtKind is why something cannot be told of a process.
type DoubtKind string

const (
	// DoubtFewIDs: too few ids of the process are in the data.
	DoubtFewIDs DoubtKind = "few-ids"
	// DoubtWeak: chance explains what looks like a fault, but not often.
	DoubtWeak DoubtKind = "weak-evidence"
	// DoubtBlocks: threads that reserve counters in blocks look like that, and so do
	// clocks that are set backwards and processes that share a value.
	DoubtBlocks DoubtKind = "blocks"
	// DoubtNoSequence: most ids follow none of the others.
	DoubtNoSequence DoubtKind = "no-sequence"
)

// doubtReasons are why it cannot be told whether processes have a fault, after how many
// there are.
var doubtReasons = [...]struct {
	kind   DoubtKind
	reason string
}{
	{DoubtFewIDs, "too few of the ids with their process value are in this data to follow the counter"},
	{DoubtWeak, "restarts at random counters look the same, though not often"},
	{DoubtBlocks, "threads that reserve counters in blocks look the same"},
	{DoubtNoSequence, "most of their counters follow none of the others: a program that is started for every id, or random counters"},
}

// Doubt is breaks in the counters of some processes that may be a fault or the life of a
// healthy process.
type Doubt struct {
	Kind DoubtKind
	// Processes is how many processes are concerned.
	Processes int64
	// Reason is what cannot be told, and why, in one sentence.
	Reason string
	// Examples are ids of some of them.
	Examples []Example
}

// doubts returns what cannot be told of the processes of a tally.
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
	slices.SortStableFunc(out, func(a, b Doubt) int { return cmp.Compare(b.Processes, a.Processes) })
	return out
}

// doubtOf returns what cannot be told of a process.
func (t *tally) doubtOf(p *process) DoubtKind {
	switch proof, weak := t.suspects.need(t.broken); {
	case p.bits() >= proof:
		return ""
	case p.doubt == "" && p.bits() >= weak:
		return DoubtWeak
	}
	return p.doubt
}
