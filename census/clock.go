package census

import (
	"slices"
	"sort"
	"time"
)

// clock is a history in the local time of a zone. It begins at midnight on a Monday. The hour
// that is skipped when summer time begins repeats the hour before.
type clock struct {
	minutes []int32         // of the history
	pieces  []piece         // in order of time
	near    span            // around the minute that find found last
	size    int             // number of local minutes
	tens    []int32         // ids in each ten minutes
	days    []int64         // ids on each day
	low     float64         // level of the days with the fewest ids, see lowest
	at      func(i int) int // local minute for minute i of the history
}

// piece is a part of a history in which the offset from UTC does not change.
type piece struct {
	from, to int // minutes of the history
	local    int // local minute of from
}

// span is consecutive local minutes that only one piece has.
type span struct {
	from int
	ids  []int32
}

func (h *history) clock(zone *time.Location) *clock {
	c := &clock{minutes: h.minutes}
	offsets := make([]int, h.hours()) // minutes
	for i := range offsets {
		_, seconds := h.minute(i * 60).In(zone).Zone()
		offsets[i] = seconds / 60
	}
	const monday = 4 * minutesPerDay // the first Monday of 1970
	start := int(h.from)/60 + offsets[0]
	pad := (start - monday) % minutesPerWeek
	c.at = func(i int) int { return pad + i + offsets[i/60] - offsets[0] }
	for i := range offsets {
		if i == 0 || offsets[i] != offsets[i-1] {
			c.pieces = append(c.pieces, piece{i * 60, i * 60, c.at(i * 60)})
		}
		c.pieces[len(c.pieces)-1].to += 60
		c.size = max(c.size, c.at(i*60)+60)
	}
	c.tens = make([]int32, (c.size-1)/10+1)
	c.days = make([]int64, (c.size-1)/minutesPerDay+1)
	for i, n := range c.occupied {
		c.tens[i/10] += n
		c.days[i/minutesPerDay] += int64(n)
	}
	c.low = c.lowest()
	return c
}

// foldMinutes is longer than the time that clocks repeat when they are set back.
const foldMinutes = 2 * minutesPerDay

// minute returns the ids in a local minute.
func (c *clock) minute(i int) int32 {
	if n := uint(i - c.near.from); n < uint(len(c.near.ids)) {
		return c.near.ids[n]
	}
	return c.find(i)
}

// find is minute for a minute outside the span near.
func (c *clock) find(i int) (n int32) {
	at := max(sort.Search(len(c.pieces), func(k int) bool { return c.pieces[k].local > i })-1, 0)
	p, end := c.pieces[at], c.size
	if at+1 < len(c.pieces) {
		end = c.pieces[at+1].local
	}
	if from, to := p.from+foldMinutes, min(p.to, p.from+end-p.local); from < to {
		c.near = span{p.local + foldMinutes, c.minutes[from:to]}
	}
	isSkipped := i > c.pieces[0].local
	for _, p := range c.pieces[max(at-1, 0) : at+1] {
		if m := p.from + i - p.local; m >= p.from && m < p.to {
			n, isSkipped = n+c.minutes[m], false
		}
	}
	if isSkipped {
		return c.minute(i - 60)
	}
	return n
}

// occupied yields the local minutes that have ids, and their ids.
func (c *clock) occupied(yield func(int, int32) bool) {
	for i := 0; i < c.size; {
		ids := []int32{c.minute(i)}
		if n := i - c.near.from; n >= 0 && n < len(c.near.ids) {
			ids = c.near.ids[n:]
		}
		for k, n := range ids {
			if n > 0 && !yield(i+k, n) {
				return
			}
		}
		i += len(ids)
	}
}

// usual returns the average number of ids on the days around day. These are step days apart.
func (c *clock) usual(day, step int) float64 {
	sum, n := int64(0), 0
	for k := step; k <= seasonPeriods*step; k += step {
		for _, d := range [2]int{day - k, day + k} {
			if d >= 0 && d < len(c.days) {
				sum += c.days[d]
				n++
			}
		}
	}
	return float64(sum) / float64(max(n, 1))
}

// lowest returns the level of the day with the third fewest ids, as a fraction of the usual
// number. Two days are skipped because the history begins and ends within a day.
func (c *clock) lowest() float64 {
	parts := []float64{1, 1, 1}
	for d, n := range c.days {
		if usual := c.usual(d, 7); n > 0 && usual > 0 {
			parts = append(parts, float64(n)/usual)
		}
	}
	slices.Sort(parts)
	return parts[2]
}
