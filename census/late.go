package census

import (
	"math"
	"time"

	"github.com/oidkit/oid/internal/era"
)

const secondsPerDay = 24 * 60 * 60

// earliest is the first second of a plausible id.
var earliest = uint32(era.First.Unix())

// latestSecond is the last second that is not the future.
func latestSecond(now time.Time) uint32 {
	return uint32(min(max(now.Add(era.Tolerance).Unix(), int64(earliest)), math.MaxUint32))
}

// lateIDs counts the ids that come after several others that are more than lateAfter
// seconds younger.
type lateIDs struct {
	sighting
	most   uint32 // seconds that one was late
	latest record
}

func (l *lateIDs) add(r record, by uint32) {
	l.sighting.add(1, r)
	if by > l.most {
		l.most, l.latest = by, r
	}
}

// youngest keeps the youngest seconds of a source so far, the youngest last.
type youngest [minYoungerBefore]uint32

// add takes the next second.
func (y *youngest) add(s uint32) {
	if s <= y[0] {
		return
	}
	i := 1
	for i < minYoungerBefore && y[i] < s {
		y[i-1] = y[i]
		i++
	}
	y[i-1] = s
}

// lateBy returns by how many seconds all of them are younger than s, or 0.
func (y *youngest) lateBy(s uint32) uint32 { return max(y[0], s) - s }
