package judge

import (
	"fmt"
	"math"
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

// Clock is the clock that the ids of one program follow. One goroutine uses it.
type Clock struct {
	Sleep   func(time.Duration)      // waits
	Move    func(moment int64) error // shows the program another moment, in Unix seconds
	now     func() time.Time         // the clock of the system
	mode    ClockMode
	moments []int64 // at which it stands still, in Unix seconds
	reached int     // the moment that it shows
	began   time.Time
	wall    int64   // the nanoseconds of began
	from    reading // a time before the creation of the ids that were read last
	to      reading // a time after it
	set     bool    // the clock of the system was set meanwhile
}

// reading is what the clock showed after a number of bytes had been read.
type reading struct {
	at      time.Time
	reached int
	bytes   int64
}

// NewClock returns the clock of a program that is about to start, in a judgement that
// began at start. now is the clock of the system. A clock that stands still begins with the
// first of its moments, a day from start: the same one for all programs of the judgement,
// so that ids of theirs which can repeat do.
func NewClock(mode ClockMode, start time.Time, now func() time.Time) *Clock {
	const day, hour = 24 * 3600, 3600
	c := &Clock{mode: mode, now: now, began: now(), Sleep: func(time.Duration) {}}
	c.wall = c.began.UnixNano()
	first := start.Unix() + day
	c.moments = map[ClockMode][]int64{
		Running: {0},
		Frozen:  {first},
		Back:    {first, first - hour},
		Forward: {first, first + hour},
		Wrap:    {math.MaxInt32, math.MaxInt32 + 1},
		End:     {math.MaxUint32, math.MaxUint32 + 1},
	}[mode]
	return c
}

// Moment returns where the clock stands still, in Unix seconds.
func (c *Clock) Moment() int64 { return c.moments[c.reached] }

// Moves reports whether the clock has another moment.
func (c *Clock) Moves() bool { return c.reached+1 < len(c.moments) }

// maxSet is by how much the clock of the system may differ from the time that has passed:
// far more than what keeps it right, and less than what changes a verdict.
const maxSet = 500 * time.Millisecond

// read reads the clock.
func (c *Clock) read(bytes int64) reading {
	now := c.now()
	if d := time.Duration(now.UnixNano()-c.wall) - now.Sub(c.began); d.Abs() > maxSet {
		c.set = true
	}
	return reading{now, c.reached, bytes}
}

// window returns the first and the last second that an id may have which was read last.
// lead is by how many seconds ids may lead the clock because their counter overflowed.
func (c *Clock) window(lead int64) (first, last int64) {
	if c.mode == Running {
		return c.from.at.Unix() - 1, c.to.at.Unix() + lead // programs may read the clock once a second
	}
	first, last = c.moments[c.from.reached], c.moments[c.to.reached]
	return min(first, last, math.MaxUint32), max(last, c.moments[0]) + lead // ids may stay at the latest one
}

// cause returns what fits best of why an id has a second other than from first to last,
// or "" for one that is too early for a reason which the ids after it show.
func (c *Clock) cause(second uint32, first, last int64) string {
	s := int64(second)
	within := func(s int64) bool { return first <= s && s <= last }
	switch {
	case c.mode != Running && c.reached > 0 && s == c.moments[0]:
		return fmt.Sprintf("the ids keep the second of before the clock was moved to %s", timeText(c.Moment()))
	case s <= math.MaxInt32 && within(s+math.MaxInt32+1):
		return "the second has 31 bits: ids that are created after 2038-01-19T03:14:07Z carry a wrong time"
	case within(s + math.MaxUint32 + 1):
		return "ids that are created after 2106-02-07T06:28:15Z begin again at 1970"
	case s > last:
		return fmt.Sprintf("the second is %d s ahead of the clock", s-last)
	case c.mode != Running:
		return fmt.Sprintf("the clock shows %s", timeText(c.Moment()))
	case s < c.began.Unix()-1:
		return fmt.Sprintf("the second is %d to %d s behind the clock", first+1-s, last-s)
	}
	return ""
}

// timeText writes Unix seconds for people.
func timeText(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

// pace is how late the ids of a stream are, as they arrive.
type pace struct {
	late    time.Duration // the most by which an id is known to be too old
	watched time.Duration // in which a clock at half its speed would have been found
}

const (
	// sharp is how exactly the creation of an id must be known: an id that is 3 s too old
	// is then found in whichever part of a second it was created.
	sharp = time.Second

	// enough is how long ids must be watched: a clock at half its speed is then 2 s late,
	// which is found in whichever part of a second the ids began.
	enough = 4 * time.Second
)

// see takes the second of the ids that were read last.
func (p *pace) see(c *Clock, second uint32) {
	p.late = max(p.late, c.from.at.Sub(time.Unix(int64(second)+1, 0)))
	if held := c.to.at.Sub(c.from.at); held <= sharp {
		p.watched = max(p.watched, c.from.at.Sub(c.began)-held)
	}
}

// cause says why ids were too old, that began in time.
func (p *pace) cause() string {
	return fmt.Sprintf("the clock of the ids is slow or stands still, or they are handed out late: an id is at least %.0f s old when it arrives", p.late.Seconds())
}

// unseen returns why the ids do not show whether their second is right, or "".
func (p *pace) unseen(c *Clock) string {
	switch {
	case c.set:
		return "the clock of the system was set meanwhile"
	case c.from.reached+1 < len(c.moments):
		return "there were too few ids after the clock was moved"
	case c.mode == Running && p.watched < enough:
		return fmt.Sprintf("no id is seen to be wrong; whether the clock goes on shows when more than %d ids arrive within a second, for 6 s: see --time", HeldBytes/(hexLine+1))
	}
	return ""
}
