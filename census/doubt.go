package census

import (
	"fmt"

	"github.com/oidkit/oid/internal/phrase"
)

// DoubtKind is why something cannot be told of a process.
type DoubtKind string

// DoubtFewIDs: too few ids of the process are in the data.
const DoubtFewIDs DoubtKind = "few-ids"

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
func (c *Census) doubts(t *tally) []Doubt {
	if t.unjudged == 0 {
		return []Doubt{}
	}
	return []Doubt{{DoubtFewIDs, t.unjudged, fmt.Sprintf("whether %s a shared process value or clock steps: too few of their ids are here",
		phrase.Count(t.unjudged, "process has", "processes have")), []Example{}}}
}
