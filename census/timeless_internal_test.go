package census

import (
	"math"
	"testing"
	"time"
)

// Among a million random ids, chance gives a few the same process value. More of these are ids of
// a process. If all ids are random, no time is left to report.
func TestRandomProcessValues(t *testing.T) {
	for others, want := range map[int64]leftOut{0: leaveAll, 2: leaveAll, 5: leaveAll, 6: leaveLone, 50: leaveLone} {
		s := &scan{latest: latestSecond(time.Unix(1_790_000_000, 0)), others: others, span: secondRange{0, math.MaxUint32}, loneTimes: noTimes(), otherTimes: noTimes()}
		for i := range s.impossible {
			if i >= int(earliest>>24) && i <= int(s.latest>>24) {
				s.possible[i] = 3800
			} else {
				s.impossible[i] = 4000
			}
		}
		s.loneTimes.add(1_700_000_000, true)
		s.otherTimes.add(1_600_000_000, true)
		left, isDoubtful := s.judge()
		if left != want || isDoubtful {
			t.Errorf("%d other ids: %v, %v, want %v", others, left, isDoubtful, want)
		}
		for left, want := range map[leftOut]secondRange{
			leaveImpossible: {1_600_000_000, 1_700_000_000}, leaveLone: {1_600_000_000, 1_600_000_000}, leaveAll: noSeconds,
		} {
			if got := s.times(left); got.plausible != want || got.all != want || len(got.days) > 0 == want.empty() {
				t.Errorf("without %v the times are %+v, want %v", left, got, want)
			}
		}
	}
}
