package census

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/internal/phrase"
)

// judgePace finds lines that only so many random counters make: no process counts through
// half of the range in a second, again and again, and keeps so few of the ids.
func (v *verdict) judgePace(ls *lineSet, value uint64) {
	for _, l := range ls.list {
		if l.racing >= minRacing && racingFactor*l.ids < l.racing*idset.CounterRange/2 {
			v.add(noSequence, maxBits, value,
				fmt.Sprintf("In each of %s its counters cover more than half of 16,777,216 values, with %s in all.",
					phrase.Count(l.racing, "second", "seconds"), phrase.Count(l.ids, "id", "ids")), l.start, l.end)
		}
	}
}

// judgeDisorder finds counters that do not count.
func (v *verdict) judgeDisorder(ls *lineSet, ids int64, value uint64) {
	switch {
	case ids < minDisorder || 4*ls.loose <= 3*ids:
	case ls.rapid < minRapid:
		v.doubtBecause(DoubtNoSequence)
	default:
		v.add(noSequence, maxBits, value,
			fmt.Sprintf("%s of %s continue the counter of no other one, %s of them further than a process counts within the same second.",
				humanize.Comma(ls.loose), phrase.Count(ids, "id", "ids"), humanize.Comma(ls.rapid)), ls.list[0].start, ls.list[len(ls.list)-1].start)
	}
}
