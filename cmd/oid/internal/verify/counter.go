package verify

import "fmt"

const (
	// leastWrap is the smallest number of values of a counter whose overflow is
	// recognised.
	leastWrap = 1 << 16

	// pool is how many ids at least may wait to be handed out at the end, if ids are
	// handed out in another order than that of their creation; with many ids, a quarter
	// of them may.
	pool = 10_000
)

// movement is how the counter of a process moves. Positions are the number of steps since
// the first id, as if it never overflowed.
type movement struct {
	position, least, most int64
	back                  int64 // by which it was at most before the furthest position
	skipped               int64 // counters that were left out at an overflow

	jumps, within int64 // steps by another number than one, and those within a second
	example       string

	seconds, resets int64  // how often a second began, and how often the counter did not go on then
	start           uint64 // the counter after the last reset
	again           int64  // resets to the same counter as the last one
}

// advance moves the counter by a number.
func (c *movement) advance(by int64) {
	c.position += by
	c.least, c.most = min(c.least, c.position), max(c.most, c.position)
	c.back = max(c.back, c.most-c.position)
}

// move moves from one counter to another, and returns by which number.
func (c *movement) move(from, to uint64) int64 {
	by := int64(int32(uint32(to-from)<<8) >> 8)
	c.advance(by)
	return by
}

// overflow moves over the end, where some counters leave out a value.
func (c *movement) overflow(from, to uint64) { c.skipped += max(c.move(from, to)-1, 0) }

// jump moves to a counter that does not follow. It reports whether that is the first time.
func (c *movement) jump(from, to uint64, sameSecond bool) bool {
	c.move(from, to)
	c.jumps++
	if sameSecond {
		c.within++
	}
	return c.jumps == 1
}

// next takes the first counter of a second, and whether it follows the one before.
func (c *movement) next(counter uint64, follows bool) {
	c.seconds++
	if follows {
		return
	}
	c.resets++
	if counter == c.start || c.resets == 1 && counter <= 1 {
		c.again++
	}
	c.start = counter
}

// judge returns the promise that the counter of some ids breaks, and why, or "". distinct
// is how many of them are different, unless some were forgotten. The counter may be handed
// out in any order, as from a pool, if each is handed out once.
func (c *movement) judge(ids, distinct int64, forgotten bool) (p Promise, cause string) {
	span := c.most - c.least + 1
	left, reused := span-ids-c.skipped, distinct-span
	if forgotten {
		reused = 0
	}
	switch {
	case c.least == 1-ids && ids > pool: // no pool is that large
		return CounterStep, "the counter decreases"
	case left <= min(c.back, max(pool, ids/4)) && reused <= 0:
		return "", ""
	case c.within == 0 && c.again >= max(c.resets-1, 1):
		return NextSecond, fmt.Sprintf("the counter begins again at %d with each second", c.start)
	case c.within == 0:
		return NextSecond, "the counter begins at another value with each second"
	case reused > 0:
		return CounterStep, fmt.Sprintf("%d counters come again in a later second", reused)
	}
	return CounterStep, fmt.Sprintf("%d of %d steps are not by one, and leave out %d counters", c.jumps, ids-1, left)
}
