package main

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/timerange"
)

// How the modern layout draws: a block of 4 random bytes, a last byte from 0 to
// lastBytes-1, and a counter of 3 bytes that starts at a random value.
const (
	blocks    = 1 << 32
	lastBytes = 192
	counters  = 1 << 24
)

func newOddsCommand(std streams) *cobra.Command {
	var processes, rate, over, layout, hosts string
	var asJSON jsonFlag
	cmd := &cobra.Command{
		Use:   "odds --processes N [--rate R] [--over D] [--layout L]",
		Short: "Calculate the chance of a collision",
		Long: `Calculate the chance that two of N processes draw the same process value, and the
chance that an id is created twice.

Assumptions:
  - Each process has one generator and a process value of the --layout:
      modern   that of oid: one of 192 * 2^32 values at random, 39.6 bits
      driver   that of MongoDB's drivers: one of 2^40 at random; beyond 2^24 ids
               a second they repeat ids by themselves
      classic  host and pid: hosts share their 24 bits by chance, and two processes
               of one host 16 bits of their pids. --hosts says how many hosts there
               are. (In containers most pids are 1, and chances are those of 24 bits.)
  - All N run at the same time, with clocks that agree, for the whole of --over.
  - Each creates R consecutive ids in every second; in every second the counters
    are random and independent. With R below 1 a process creates an id in a share
    R of the seconds; above, R is rounded up.
  - Two processes have the same process value, or neighbouring ones where the
    first counter overflows into the second value. They create an id twice if in
    some second their ranges of the counter overlap.

The chance of sharing a value is exact, but for the classic layout, where hosts have
equally many processes. The chance of a repeat is exact for two
processes; for more it counts a collision of three as three collisions of two, so
it is never too low, and too high by less than N parts in 10^9.

Within one process no id repeats at any rate, and processes with a process block
from a registry never share one: their chance is 0.`,
		Example: `  oid odds --processes 1000 --rate 500
  oid odds --processes 1e6 --rate 0.1 --over 10000d
  oid odds --processes 1000 --layout classic --hosts 20`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			o, err := newOdds(processes, rate, over, layout, hosts)
			if err != nil {
				return usageError{err}
			}
			return asJSON.emit(std.out, o, textf("two of %s processes share a process value: %s\nan id is created twice, at %s ids a second each, over %s: %s\nwith process blocks from a registry: 0\n",
				processes, chance(o.SharedValue), rate, over, chance(o.RepeatedID)))
		},
	}
	f := cmd.Flags()
	f.StringVar(&processes, "processes", "", "number of processes, from 1 to 10^18")
	f.StringVar(&rate, "rate", "1000", "ids that each creates in a second, up to 10^9")
	f.StringVar(&over, "over", "365d", "how long they run")
	f.StringVar(&layout, "layout", "modern", "the `LAYOUT` of the ids: "+oddsLayouts.names())
	f.StringVar(&hosts, "hosts", "", "with --layout classic, the number of hosts (default one for each process)")
	oddsLayouts.complete(cmd, "layout")
	asJSON.addFlag(cmd, jsonObject)
	return cmd
}

// oddsLayouts are the values of --layout: the chance of sharing a value among n
// processes on a number of hosts, if sharing it matters with the chance of overlap
// for each last byte that two values are apart.
var oddsLayouts = forms[func(n, hosts float64, overlap func(apart int64) float64) float64]{
	{"modern", func(n, _ float64, overlap func(int64) float64) float64 {
		return birthday(n, blockShared(overlap)/blocks)
	}},
	{"driver", func(n, _ float64, overlap func(int64) float64) float64 { return birthday(n, overlap(0)/(1<<40)) }},
	{"classic", func(n, hosts float64, overlap func(int64) float64) float64 {
		elsewhere, onHost := overlap(0)/(1<<40), overlap(0)/(1<<16)
		each := math.Ceil(n / hosts)
		if (each-1)*onHost >= 1 || (n-1)*elsewhere >= 1 {
			return 1
		}
		return 0 - math.Expm1(hosts*(logNoClash(each, onHost)-logNoClash(each, elsewhere))+logNoClash(n, elsewhere))
	}},
}

// newOdds reads the flags and calculates.
func newOdds(processes, rate, over, layout, hosts string) (wire.Odds, error) {
	var o wire.Odds
	if processes == "" {
		return o, fmt.Errorf("number of processes is missing: give --processes")
	}
	n, err := strconv.ParseFloat(processes, 64)
	if err != nil || !(n >= 1 && n <= 1e18) || n != math.Trunc(n) {
		return o, fmt.Errorf("--processes %q: want a whole number from 1 to 1e18", processes)
	}
	r, err := strconv.ParseFloat(rate, 64)
	if err != nil || !(r > 0 && r <= 1e9) {
		return o, fmt.Errorf("--rate %q: want a number above 0, up to 1e9", rate)
	}
	d, err := timerange.Duration(over, time.Now())
	if err != nil || d < time.Second {
		return o, fmt.Errorf("--over %q: want a duration of a second or more, such as 12h or 365d", over)
	}
	clash, err := oddsLayouts.find("--layout", layout)
	if err != nil {
		return o, err
	}
	h := n
	if hosts != "" {
		if h, err = strconv.ParseFloat(hosts, 64); err != nil || !(h >= 1 && h <= n) || h != math.Trunc(h) {
			return o, fmt.Errorf("--hosts %q: want a whole number from 1 to that of --processes", hosts)
		}
		if layout != "classic" {
			return o, fmt.Errorf("--hosts goes with --layout classic")
		}
	}
	o = wire.Odds{Processes: n, IDsEach: r, OverSeconds: d.Seconds()}
	if layout != "modern" {
		o.Layout = layout
	}
	o.SharedValue = clash(n, h, func(apart int64) float64 {
		if apart > 0 {
			return 0
		}
		return 1
	})
	o.RepeatedID = clash(n, h, func(apart int64) float64 { return repeats(r, o.OverSeconds, apart) })
	if layout == "driver" && r > counters {
		o.RepeatedID = 1
	}
	return o, nil
}

// pairRepeats returns the chance that two processes of the modern layout create an id
// twice in the given number of seconds, each creating rate ids in each.
func pairRepeats(rate, seconds float64) float64 {
	return blockShared(func(apart int64) float64 { return repeats(rate, seconds, apart) }) / blocks
}

// blockShared returns the chance that sharing a block matters: the mean of matters over
// the last bytes of two processes, by how far they are apart.
func blockShared(matters func(apart int64) float64) float64 {
	var sum float64
	for apart := range int64(lastBytes) {
		// How often two last bytes are that far apart.
		weight := float64(lastBytes-apart) * 2 / (lastBytes * lastBytes)
		if apart == 0 {
			weight /= 2
		}
		sum += weight * matters(apart)
	}
	return sum
}

// repeats returns the chance that two processes whose values are apart, each creating
// rate ids a second, create an id twice in the given number of seconds.
func repeats(rate, seconds float64, apart int64) float64 {
	overlap := stretchesOverlap(int64(math.Ceil(rate)), apart)
	if rate < 1 {
		overlap *= rate * rate
	}
	return -math.Expm1(seconds * math.Log1p(-overlap))
}

// stretchesOverlap returns the chance that two ranges of n ids, which begin at random
// counters under last bytes that are apart from each other, have an id in common.
func stretchesOverlap(n, apart int64) float64 {
	// Among all pairs of counters, those whose distance, with apart overflows
	// added to it, is from -(n-1) to n-1.
	pairs := atMost(n-1-apart*counters) - atMost(-n-apart*counters)
	ratio, _ := new(big.Rat).SetFrac64(pairs, counters*counters).Float64()
	return ratio
}

// atMost returns how many of the counters' pairs have a difference of d or less.
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

// chance writes a probability for people.
func chance(p float64) string {
	switch {
	case p == 0:
		return "0"
	case p == 1:
		return "1 (certain)"
	case p > 0.5:
		return fmt.Sprintf("%.4g", p)
	default:
		return fmt.Sprintf("%.4g (1 in %.4g)", p, 1/p)
	}
}

// birthday returns the chance that two of n draws clash, where each draw clashes
// with each earlier one with chance p:
//
//	1 - (1-p)(1-2p)...(1-(n-1)p)
//
// That is the birthday problem if p is one over the number of values. n is a
// whole number from 1; p is between 0 and 1. The result has the full precision
// of a float64 but for a few digits, also for very small and very large results.
func birthday(n, p float64) float64 {
	if (n-1)*p >= 1 {
		return 1
	}
	return 0 - math.Expm1(logNoClash(n, p)) // and not -0
}

// logNoClash returns the natural logarithm of the product above.
func logNoClash(n, p float64) float64 {
	const few = 1 << 20 // factors are multiplied one by one up to here
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
	// The sum of log(1-ip) over i from 0 to n-1 by Euler and Maclaurin. The terms
	// after these are smaller than the last by a factor of n^2, except where y is
	// so near to 1 that the product is 0.
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
