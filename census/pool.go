package census

import "math"

// pool counts events by the bits of evidence that each of them is worth: an event of n
// bits happens by chance once in 2^n trials.
type pool [maxBits + 1]int64

// maxBits is the evidence of what chance cannot explain.
const maxBits = 64

// add counts n events.
func (p *pool) add(bits float64, n int64) {
	if bits >= 1 {
		p[int(min(bits, maxBits))] += n
	}
}

func (p *pool) merge(other *pool) {
	for j, n := range other {
		p[j] += n
	}
}

// bits returns the bits of evidence of all events together, in as many trials: chance
// makes n events or more of at least j bits, of which it makes m on average, with a
// probability of at most m^n/n! (the bound of the Poisson distribution). The j that is
// the least likely counts.
func (p *pool) bits(trials float64) (best float64) {
	n := 0.
	for j := maxBits; j >= 1; j-- {
		if p[j] == 0 {
			continue
		}
		n += float64(p[j])
		factorial, _ := math.Lgamma(n + 1)
		best = max(best, factorial/math.Ln2-n*(math.Log2(max(trials, 1))-float64(j)))
	}
	return min(best, maxBits)
}
