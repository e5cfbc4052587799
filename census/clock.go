package census

import (
	"slices"
	"time"
)

// clock is a history in the local time of a zone. It begins at midnight on a Monday. The hour
// that is skipped when summer time begins repeats the hour before.
type clock struct {
	minutes []int32         // of the history
	pad     int             // local minutes before the first quarter
	parts   [][2]int32      // quarters: the minutes of the history at which each begins, or -1
	size    int             // number of local minutes
	tens    []int32         // ids in each ten minutes
	days    []int64         // ids on each day
	low     float64         // level of the days with the fewest ids, see lowest
	at      func(i int) int // local minute for minute i of the history
}

// quarter is a quarter of an hour in minutes. Clocks change by whole quarters. They show a quarter
// twice if they are set back.
const quarter = 15

func (h *history) clock(zone *time.Location) *clock {
	offsets := make([]int, h.hours()) // minutes
	for i := range offsets {
		_, seconds := h.minute(i * 60).In(zone).Zone()
		offsets[i] = seconds / 60
	}
	const monday = 4 * minutesPerDay // the first Monday of 1970
	start := int(h.from)/60 + offsets[0]
	begin := (start - monday) % minutesPerWeek
	none := [2]int32{-1, -1}
	c := &clock{minutes: h.minutes, pad: begin % quarter, parts: slices.Repeat([][2]int32{none}, begin/quarter)}
	c.parts = slices.Grow(c.parts, len(h.minutes)/quarter+60/quarter)
	c.at = func(i int) int { return begin + i + offsets[i/60] - offsets[0] }
	for i := 0; i < len(h.minutes); i += quarter {
		q := max(c.at(i)-c.pad, 0) / quarter
		for len(c.parts) < q {
			c.parts = append(c.parts, c.parts[len(c.parts)-60/quarter])
		}
		if len(c.parts) == q {
			c.parts = append(c.parts, none)
		}
		part := &c.parts[q]
		part[0], part[1] = int32(i), part[0]
	}
	c.size = c.pad + len(c.parts)*quarter
	c.tens = make([]int32, (c.size-1)/10+1)
	c.days = make([]int64, (c.size-1)/minutesPerDay+1)
	for i, n := range c.occupied {
		c.tens[i/10] += n
		c.days[i/minutesPerDay] += int64(n)
	}
	c.low = c.lowest()
	return c
}

// minute returns the ids in a local minute.
func (c *clock) minute(i int) (n int32) {
	if i < c.pad {
		return 0
	}
	for _, from := range c.parts[(i-c.pad)/quarter] {
		if from >= 0 {
			n += c.minutes[int(from)+(i-c.pad)%quarter]
		}
	}
	return n
}

// occupied yields the local minutes that have ids, and their ids.
func (c *clock) occupied(yield func(int, int32) bool) {
	for i := range c.size {
		if n := c.minute(i); n > 0 && !yield(i, n) {
			return
		}
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
