package census

import (
	"math"
	"slices"

	"github.com/oidkit/oid/census/internal/idset"
)

// suspects counts the process values that have breaks, by the strength of the evidence.
type suspects struct {
	strongest pool // all, by the strongest evidence of each
	found     [faults]suspected
	doubts    [len(doubtReasons)]suspected
}

// suspected counts the process values with evidence for one fault, or with one reason for
// doubt.
type suspected struct {
	byBits   pool
	examples []evidence
}

// add counts p.
func (s *suspects) add(p *process) {
	most := p.bits()
	if most > 0 {
		s.strongest[most]++
	}
	for f, e := range p.found {
		if e.bits > 0 {
			s.found[f].add(e)
		}
	}
	doubt := p.doubt
	if doubt == "" && most > 0 {
		doubt = DoubtWeak
	}
	for i, d := range doubtReasons {
		if d.kind == doubt {
			s.doubts[i].add(evidence{bits: most, examples: []idset.Record{p.begin}})
		}
	}
}

func (s *suspected) add(e evidence) {
	s.byBits[e.bits]++
	if len(s.examples) < maxSuspects {
		s.examples = append(s.examples, e)
	}
}

func (s *suspects) merge(other *suspects) {
	s.strongest.merge(&other.strongest)
	for f := range other.found {
		s.found[f].merge(&other.found[f])
	}
	for i := range other.doubts {
		s.doubts[i].merge(&other.doubts[i])
	}
}

func (s *suspected) merge(other *suspected) {
	s.byBits.merge(&other.byBits)
	s.examples = append(s.examples, other.examples[:min(len(other.examples), maxSuspects-len(s.examples))]...)
}

// between returns the number of process values whose evidence has at least from bits and less
// than to bits, and a few of them, those with the strongest evidence first.
func (s *suspected) between(from, to int) (count int64, examples []evidence) {
	for _, n := range s.byBits[from:to] {
		count += n
	}
	for _, e := range s.examples {
		if e.bits >= from && e.bits < to {
			examples = append(examples, e)
		}
	}
	slices.SortStableFunc(examples, func(a, b evidence) int { return b.bits - a.bits })
	return count, examples[:min(len(examples), maxExamples)]
}

// need returns how many bits of evidence a finding needs if broken process values have breaks.
// It is enough that one value has so much evidence that chance hardly causes it in any of
// them, or that so many values have less evidence that chance hardly causes it in all of
// these. need also returns how many bits a doubt needs.
func (s *suspects) need(broken int64) (proof, doubt int) {
	beyond := int(math.Ceil(math.Log2(max(float64(broken)/fewBroken, 1))))
	proof, doubt = min(proofBits+beyond, maxBits), min(doubtBits+beyond, maxBits)
	var many int64 // how many values have from j to proof-1 bits
	for j := proof - 1; j >= proofBits; j-- {
		var p pool
		many += s.strongest[j]
		if p[j] = many; p.bits(float64(broken)/fewBroken) >= proofBits {
			return j, doubt
		}
	}
	return proof, doubt
}

// pool counts events by their evidence in bits. Chance causes an event of n bits in one of 2^n
// trials.
type pool [maxBits + 1]int64

// maxBits is the most evidence. Chance practically never causes such an event.
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

// bits returns the evidence of all events together, in bits, given the number of trials. If
// chance causes m events of at least j bits on average, it causes n or more of them with a
// probability of at most m^n/n! (the bound of the Poisson distribution). bits uses the j with
// the least probability.
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
