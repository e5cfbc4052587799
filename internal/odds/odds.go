// Package odds calculates the chance that two processes draw the same process value, and the
// chance that two processes create the same id. "oid odds --help" lists the assumptions.
package odds

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/internal/timerange"
)

// A generator of the modern layout draws three random numbers at its start: a process block
// of 4 bytes, a last byte of the process value from 0 to lastBytes-1, and the first value of
// its counter of 3 bytes.
const (
	blocks    = 1 << 32
	lastBytes = 192
	counters  = 1 << 24
)

// Layouts are the names of the layouts that [Of] knows.
var Layouts = []string{"modern", "driver"}

// share returns the chance that two processes draw the same block and then clash. overlap
// returns the chance that they clash if their last bytes differ by apart.
func share(layout string, overlap func(apart int64) float64) float64 {
	switch layout {
	case "modern":
		return blockShared(overlap) / blocks
	case "driver":
		return overlap(0) / (1 << 40)
	}
	panic("odds: no layout " + layout)
}

// Question is the input of [Of].
type Question struct {
	Layout    string  // one of [Layouts]
	Processes float64 // number of processes, a whole number
	Rate      float64 // ids per second of each process
	Seconds   float64 // time for which all processes run
}

// Parse reads a question that somebody typed. Its errors begin with the name of the argument
// that is wrong: processes, rate or over. layout is not checked.
func Parse(processes, rate, over, layout string) (q Question, err error) {
	q.Layout = layout
	if q.Processes, err = strconv.ParseFloat(processes, 64); err != nil || !(q.Processes >= 1 && q.Processes <= 1e18) || q.Processes != math.Trunc(q.Processes) {
		return q, fmt.Errorf("processes %q: want a whole number from 1 to 1e18", processes)
	}
	if q.Rate, err = strconv.ParseFloat(rate, 64); err != nil || !(q.Rate > 0 && q.Rate <= 1e9) {
		return q, fmt.Errorf("rate %q: want a number above 0, up to 1e9", rate)
	}
	d, err := timerange.Duration(over, time.Now())
	if err != nil || d < time.Second {
		return q, fmt.Errorf("time span %q: want a duration of a second or more, such as 12h or 365d", over)
	}
	q.Seconds = d.Seconds()
	return q, nil
}

// Of returns the chance that two processes have the same process value, and the chance that
// two processes create the same id, from 0 to 1. It panics if q.Layout is not one of [Layouts].
func Of(q Question) (sharedValue, repeatedID float64) {
	sharedValue = birthday(q.Processes, share(q.Layout, func(apart int64) float64 {
		if apart > 0 {
			return 0
		}
		return 1
	}))
	repeatedID = birthday(q.Processes, share(q.Layout, func(apart int64) float64 { return repeats(q.Rate, q.Seconds, apart) }))
	if q.Layout == "driver" && q.Rate > counters {
		repeatedID = 1
	}
	return sharedValue, repeatedID
}

// Text writes a probability for people.
func Text(p float64) string {
	switch {
	case p == 0:
		return "0"
	case p == 1:
		return "1 (certain)"
	case p > 0.5:
		return fmt.Sprintf("%.4g", p)
	default:
		return fmt.Sprintf("%.4g (1 in %s)", p, inverse(1/p))
	}
}

// longest is the smallest number that inverse writes as a power of ten.
const longest = 1e15

// inverse writes n, which is at least 1, with four significant digits and commas between
// groups of three digits.
func inverse(n float64) string {
	text := fmt.Sprintf("%.4g", n)
	if digits, power, large := strings.Cut(text, "e+"); large && n >= longest {
		return digits + " × 10^" + power
	}
	rounded, _ := strconv.ParseFloat(text, 64) // cannot fail: Sprintf wrote text
	return humanize.Commaf(rounded)
}

// blockShared returns the chance that two processes with the same block clash: the mean of
// overlap over all pairs of last bytes.
func blockShared(overlap func(apart int64) float64) float64 {
	var sum float64
	for apart := range int64(lastBytes) {
		// weight is the chance that two last bytes differ by apart.
		weight := float64(lastBytes-apart) * 2 / (lastBytes * lastBytes)
		if apart == 0 {
			weight /= 2
		}
		sum += weight * overlap(apart)
	}
	return sum
}

// repeats returns the chance that two processes with the same block create the same id within
// the given number of seconds, if each creates rate ids a second. Their last bytes differ by
// apart.
func repeats(rate, seconds float64, apart int64) float64 {
	overlap := stretchesOverlap(int64(math.Ceil(rate)), apart)
	if rate < 1 {
		overlap *= rate * rate
	}
	return -math.Expm1(seconds * math.Log1p(-overlap))
}

// stretchesOverlap returns the chance that two runs of n consecutive ids have an id in common.
// They begin at random counters, and their last bytes differ by apart.
func stretchesOverlap(n, apart int64) float64 {
	// The runs overlap if the difference of the two counters, plus apart times counters, is
	// from -(n-1) to n-1. pairs counts the pairs of counters for which that holds.
	pairs := atMost(n-1-apart*counters) - atMost(-n-apart*counters)
	return float64(pairs) / (counters * counters) // exact: the divisor is a power of two, and pairs is below 2^53
}

// atMost returns the number of pairs of counters whose difference is at most d.
func atMost(d int64) int64 {
	switch {
	case d <= -counters:
		return 0
	case d < 0:
		return (counters + d) * (counters + d + 1) / 2
	case d < counters:
		return counters*counters - (counters-1-d)*(counters-d)/2
	default:
		return counters * counters
	}
}

// birthday returns the chance that two of n draws clash, where each draw clashes
// with each earlier one with chance p:
//
//	1 - (1-p)(1-2p)...(1-(n-1)p)
//
// That is the birthday problem if p is 1 divided by the number of values. n is a whole number,
// at least 1; p is between 0 and 1. Very small and very large results are precise too: only
// the last few digits of the float64 may be wrong.
func birthday(n, p float64) float64 {
	if (n-1)*p >= 1 {
		return 1
	}
	return 0 - math.Expm1(logNoClash(n, p)) // subtract from 0, because a minus sign would return -0
}

// logNoClash returns the natural logarithm of the product (1-p)(1-2p)...(1-(n-1)p).
func logNoClash(n, p float64) float64 {
	const few = 1 << 20 // up to this n, the logarithms are added one by one
	if n <= few {
		var sum, rest float64 // Kahan's summation
		for i := 1.0; i < n; i++ {
			term := math.Log1p(-i*p) - rest
			next := sum + term
			rest = next - sum - term
			sum = next
		}
		return sum
	}
	// The sum of log(1-ip) over i from 0 to n-1 by the Euler-Maclaurin formula. Each omitted
	// term is smaller than the last one here by a factor of n^2, unless y is so near to 1 that
	// the product is 0.
	y := n * p
	if y >= 1 {
		return math.Inf(-1)
	}
	return -n*y*entropy(y) - math.Log1p(-y)/2 - p*y/(1-y)/12
}

// entropy returns ((1-y)log(1-y)+y)/y^2 without cancellation, for y from 0 to 1.
func entropy(y float64) float64 {
	if y > 0.1 {
		return ((1-y)*math.Log1p(-y) + y) / (y * y)
	}
	var sum float64
	power := 1.0
	for k := 2.0; power > 0 && k < 40; k++ {
		sum += power / (k * (k - 1))
		power *= y
	}
	return sum
}
