package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/xhit/go-str2duration/v2"
)

// How the modern layout draws: a block of 4 random bytes, a last byte from 0 to
// lastBytes-1, and a counter of 3 bytes that starts anywhere.
const (
	blocks    = 1 << 32
	lastBytes = 192
	counters  = 1 << 24
)

// odds are the chances that go with a number of processes.
type odds struct {
	Processes float64 `json:"processes"`
	Rate      float64 `json:"rate"`    // ids a second, of each process
	Seconds   float64 `json:"seconds"` // that they run together
	Share     float64 `json:"share"`   // two of them have the same process value
	Repeat    float64 `json:"repeat"`  // two of them make the same id
}

func newOddsCommand(std streams) *cobra.Command {
	var processes, rate, over string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "odds --processes N [--rate R] [--over D]",
		Short: "Calculate the chance of a collision",
		Long: `Calculate the chance that two of N processes draw the same process value, and the
chance that an id is made twice.

What is assumed:
  - Each process has one generator of the modern layout and draws its process
    value at random: 192 * 2^32 values, 39.6 bits. (MongoDB's drivers draw from
    2^40, and repeat ids by themselves beyond 2^24 a second.)
  - All N run at the same time, with clocks that agree, for the whole of --over.
  - Each makes R ids in every second, one after the other from where its counter
    stands; in every second the counters stand anywhere, independently. With R
    below 1 it makes an id in a share R of the seconds; above, R is rounded up.
  - Two processes with the same process value, or with neighbouring ones where
    the first's counter overflows into the second's, then make an id twice if in
    some second their stretches of the counter overlap.

The chance of sharing a value is exact. The chance of a repeat is exact for two
processes; for more it counts a clash of three as three clashes of two, so it is
never too low, and too high by less than N parts in 10^9.

Within one process no id repeats at any rate, and processes that get their block
from a registry never share one: their chance is 0.`,
		Example: `  oid odds --processes 1000 --rate 500
  oid odds --processes 1e6 --rate 0.1 --over 10000d`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			o, err := newOdds(processes, rate, over)
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return json.NewEncoder(std.out).Encode(o)
			}
			_, err = fmt.Fprintf(std.out, "two of %s processes share a process value: %s\nan id is made twice, at %s ids a second each, over %s: %s\nthe same with blocks from a registry: 0\n",
				processes, chance(o.Share), rate, over, chance(o.Repeat))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&processes, "processes", "", "how many processes, from 1 to 10^18")
	f.StringVar(&rate, "rate", "1000", "ids that each makes in a second, up to 10^9")
	f.StringVar(&over, "over", "365d", "how long they run")
	f.BoolVar(&asJSON, "json", false, "write one JSON object")
	return cmd
}

// newOdds reads the flags and calculates.
func newOdds(processes, rate, over string) (odds, error) {
	var o odds
	if processes == "" {
		return o, fmt.Errorf("how many processes? Give --processes")
	}
	n, err := strconv.ParseFloat(processes, 64)
	if err != nil || !(n >= 1 && n <= 1e18) || n != math.Trunc(n) {
		return o, fmt.Errorf("--processes %q: want a whole number from 1 to 1e18", processes)
	}
	r, err := strconv.ParseFloat(rate, 64)
	if err != nil || !(r > 0 && r <= 1e9) {
		return o, fmt.Errorf("--rate %q: want a number above 0, up to 1e9", rate)
	}
	d, err := str2duration.ParseDuration(over)
	if err != nil || d < time.Second {
		return o, fmt.Errorf("--over %q: want a duration of a second or more, such as 12h or 365d", over)
	}
	o = odds{Processes: n, Rate: r, Seconds: d.Seconds()}
	o.Share = birthday(n, 1.0/(blocks*lastBytes))
	o.Repeat = birthday(n, pairRepeats(r, o.Seconds))
	return o, nil
}

// pairRepeats returns the chance that two processes make an id twice in the given
// number of seconds, each making rate ids in each.
func pairRepeats(rate, seconds float64) float64 {
	var sum float64
	for apart := range int64(lastBytes) {
		// How often two last bytes are that far apart.
		weight := float64(lastBytes-apart) * 2 / (lastBytes * lastBytes)
		if apart == 0 {
			weight /= 2
		}
		overlap := stretchesOverlap(int64(math.Ceil(rate)), apart)
		if rate < 1 {
			overlap *= rate * rate
		}
		sum += weight * -math.Expm1(seconds*math.Log1p(-overlap))
	}
	return sum / blocks
}

// stretchesOverlap returns the chance that two stretches of n ids, beginning at
// random counters under last bytes that are apart from each other, have an id in
// common.
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
