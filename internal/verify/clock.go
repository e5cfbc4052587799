package verify

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// ClockMode is what the clock of a program does while it writes ids.
type ClockMode string

// The clocks: that of the system, and those that stand still at a moment, and later at
// another one.
const (
	Running ClockMode = ""
	Frozen  ClockMode = "frozen"
	Back    ClockMode = "back"
	Forward ClockMode = "forward"
	Wrap    ClockMode = "wrap"
	End     ClockMode = "end"
)

// ClockModes are the clocks other than that of the system.
var ClockModes = []ClockMode{Frozen, Back, Forward, Wrap, End}

// Seconds from the clock of the system to the first moment of others, and by which
// these are set back or forward.
const (
	away = 24 * 3600
	step = 3600
)

// Clock is the clock that the ids of one stream follow.
type Clock struct {
	mode    ClockMode
	began   time.Time
	moments []int64 // at which it stands still, in Unix seconds
	reached atomic.Int32
}

// NewClock returns a clock for a program that starts at a time. A clock that stands
// still begins with the first of its moments.
func NewClock(mode ClockMode, began time.Time) *Clock {
	c := &Clock{mode: mode, began: began}
	start := began.Unix() + away
	switch mode {
	case Frozen:
		c.moments = []int64{start}
	case Back:
		c.moments = []int64{start, start - step}
	case Forward:
		c.moments = []int64{start, start + step}
	case Wrap:
		c.moments = []int64{math.MaxInt32, math.MaxInt32 + 1}
	case End:
		c.moments = []int64{math.MaxUint32, math.MaxUint32 + 1}
	}
	return c
}

// Moment returns where the clock stands still, in Unix seconds.
func (c *Clock) Moment() int64 { return c.moments[c.reached.Load()] }

// Steps reports whether the clock has another moment.
func (c *Clock) Steps() bool { return int(c.reached.Load())+1 < len(c.moments) }

// Step moves the clock to its next moment.
func (c *Clock) Step() { c.reached.Add(1) }

// Ignored reports whether the second of an id is that of the system's clock, although
// the program should see another one.
func (c *Clock) Ignored(second uint32) bool {
	const minute = 60
	now := time.Now().Unix()
	return c.mode != Running && int64(second) > now-minute && int64(second) < now+minute
}

// The breaches of Second.
var (
	ahead   = breach{Second, "The time in the ids is later than their creation: queries by time miss them, and they sort after ids that are created later."}
	behind  = breach{Second, "The time in the ids is earlier than their creation: queries by time miss them, and they sort before ids that were created earlier."}
	stuck   = breach{Second, "The program does not read the clock for each id: its ids carry an old time, and sort before those that others created earlier."}
	after38 = breach{Second, "Ids that are created after 2038-01-19T03:14:07Z carry a wrong time, and do not sort after the others."}
	after06 = breach{Second, "Ids that are created after 2106-02-07T06:28:15Z begin again at 1970, and sort before all others."}
)

// check returns how a second breaks the promise, and an example, or no example. lead
// is by how many seconds the ids may lead the clock because their counter overflowed.
func (c *Clock) check(second uint32, lead int64) (breach, string) {
	s := int64(second)
	if c.mode == Running {
		switch from, to := c.began.Unix()-1, time.Now().Unix()+lead; {
		case s > to:
			return ahead, fmt.Sprintf("%d s ahead of the clock", s-to+lead)
		case s < from:
			return behind, fmt.Sprintf("%d s before the program began", from+1-s)
		}
		return breach{}, ""
	}
	reached := int(c.reached.Load())
	for _, m := range c.moments[:reached+1] {
		if m = min(m, math.MaxUint32); s >= m && s <= m+lead {
			return breach{}, ""
		}
	}
	example := fmt.Sprintf("the clock shows %s", timeText(c.moments[reached]))
	switch {
	case c.mode == Wrap && reached > 0:
		return after38, example
	case c.mode == End && reached > 0:
		return after06, example
	case s < c.moments[reached]:
		return behind, example
	}
	return ahead, example
}

// checkEnd judges the second of the last id of a stream, the seconds between its first
// and its last one, and how long it took to read them.
func (c *Clock) checkEnd(last uint32, passed int64, took time.Duration) (breach, string) {
	const enough = 3 * time.Second
	switch {
	case c.mode == Running && passed == 0 && took > enough:
		return stuck, fmt.Sprintf("all ids of %s have this second", took.Round(time.Second))
	case c.mode == Forward && c.reached.Load() > 0 && int64(last) < c.Moment():
		return stuck, fmt.Sprintf("the clock shows %s", timeText(c.Moment()))
	case c.mode == Wrap && c.reached.Load() > 0 && int64(last) < c.Moment():
		return after38, fmt.Sprintf("the clock shows %s", timeText(c.Moment()))
	}
	return breach{}, ""
}

// timeText writes Unix seconds for people.
func timeText(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
