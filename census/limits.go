package census

import (
	"math"
	"time"
)

const secondsPerDay = 24 * 60 * 60

const (
	// earliest is 2009-01-01T00:00:00Z: the year of MongoDB's first release.
	earliest = 1230768000

	// ahead of the reader's clock, an id is from the future.
	futureAfter = 5 * time.Minute

	// lateAfter is by how many seconds an id may be older than one that stands
	// before it. Clocks differ, and batches take time to be stored.
	lateAfter = 60

	// maxGap is how many counter values may lack between two ids of a writer to
	// be taken for ids it made and that are elsewhere. More are a jump: a new
	// start of the process, or a long absence.
	maxGap = 1 << 20

	// unseenRate is how many ids a second a writer may plausibly make that are
	// not in the census.
	unseenRate = 1 << 17

	// backSlack is how far a counter may be behind to be taken for one that was
	// overtaken.
	backSlack = 1 << 16

	// minFall is by how many seconds a writer's clock must fall to be taken for
	// stepped back. One second is nothing: between reading the clock and taking
	// a number, a goroutine can be overtaken by others.
	minFall = 2

	// sureFall is a fall that one id alone is proof enough of.
	sureFall = 60
)

// latestSecond is the last second that is not the future.
func latestSecond(now time.Time) uint32 {
	return uint32(min(max(now.Add(futureAfter).Unix(), earliest), math.MaxUint32))
}
