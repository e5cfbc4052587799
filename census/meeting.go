package census

import (
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"
)

// meeting is when the counters of two processes that use one process value will be
// equal. From then on they may create the same ids.
type meeting struct {
	apart int64 // counters, at the last id of the two
	last  int64 // Unix seconds of that id
	idle  int64 // of when one of the two has ended, if it has created no id until then
	at    float64
}

// meet returns when the counters of two stretches will be equal if both go on at their
// mean pace, or nil if they will not within maxMeeting.
func meet(a, b *stretch) *meeting {
	if a.last == a.first || b.last == b.first {
		return nil // without a pace
	}
	pace := func(s *stretch) float64 { return float64(s.length()) / float64(s.last-s.first) }
	m := &meeting{last: int64(max(a.last, b.last)), idle: min(a.idle(), b.idle())}
	// How far b is ahead of a, when the last id is created, and how fast a catches up.
	ahead := float64(b.at) - float64(a.at) +
		pace(b)*float64(m.last-int64(b.last)) - pace(a)*float64(m.last-int64(a.last))
	ahead = math.Mod(math.Mod(ahead, counterRange)+counterRange, counterRange)
	closer := pace(a) - pace(b)
	if closer < 0 {
		ahead, closer = counterRange-ahead, -closer
	}
	if wait := ahead / closer; wait <= maxMeeting {
		m.apart, m.at = int64(ahead), float64(m.last)+wait
		return m
	}
	return nil
}

// idle returns until when s may be without ids before it counts as ended.
func (s *stretch) idle() int64 {
	return int64(s.last) + idleFactor*(int64(s.last-s.first)/s.ids+1)
}

// meetings returns advice on processes with one value whose counters will meet.
func (t *tally) meetings(last time.Time, zone *time.Location) (out []string) {
	need := need(t.broken)
	for _, e := range t.shared.examples {
		if m := e.meeting; e.bits >= need && m != nil && last.Unix() <= m.idle && len(out) < maxExamples {
			out = append(out, fmt.Sprintf("Two processes with process value %s are %s counter values apart, and one reaches the other about %s. Ids that both create in one second are then equal: restart one of them before.",
				processText(e.examples[0].value()), humanize.Comma(m.apart), time.Unix(int64(m.at), 0).In(zone).Format(time.DateOnly)))
		}
	}
	return out
}
