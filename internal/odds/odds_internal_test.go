package odds

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exact multiplies the product of birthday out with 2,000 bits.
func exact(n int64, p *big.Float) float64 {
	const bits = 2000
	one := big.NewFloat(1).SetPrec(bits)
	product := big.NewFloat(1).SetPrec(bits)
	factor := new(big.Float).SetPrec(bits).Set(one)
	for i := int64(1); i < n; i++ {
		factor.Sub(factor, p)
		product.Mul(product, factor)
	}
	result, _ := product.Sub(one, product).Float64()
	return result
}

func near(got, want, tolerance float64) bool {
	return got == want || math.Abs(got-want) <= tolerance*math.Abs(want)
}

func TestBirthday(t *testing.T) {
	if got := birthday(23, 1.0/365); !near(got, 0.507297234323986, 1e-14) {
		t.Errorf("23 people share a birthday with chance %v", got)
	}
	for _, p := range []float64{1.0 / 365, 1.0 / (blocks * lastBytes), 1e-300, 0.5, 1} {
		for _, n := range []int64{1, 2, 3, 23, 100, 366, 367, 5000} {
			want := exact(n, new(big.Float).SetPrec(2000).SetFloat64(p))
			if float64(n-1)*p >= 1 {
				want = 1
			}
			if got := birthday(float64(n), p); !near(got, want, 1e-13) {
				t.Errorf("birthday(%d, %v) = %v, want %v", n, p, got, want)
			}
		}
	}
}

// Where the sum gives way to the formula, both must agree.
func TestBirthdayOfMany(t *testing.T) {
	const n = 3_000_000
	for _, p := range []float64{1e-30, 1e-14, 1.0 / (blocks * lastBytes), 1e-8, 0.09 / n, 0.11 / n, 0.9 / n} {
		var sum, rest float64
		for i := 1.0; i < n; i++ {
			term := math.Log1p(-i*p) - rest
			next := sum + term
			rest = next - sum - term
			sum = next
		}
		if got := logNoClash(n, p); !near(got, sum, 1e-11) {
			t.Errorf("logNoClash(%d, %v) = %v, one by one %v", n, p, got, sum)
		}
	}
	for _, n := range []float64{1e10, 1e12, 1e18} {
		if got := birthday(n, 1.0/(blocks*lastBytes)); got != 1 {
			t.Errorf("%v processes share a value with chance %v", n, got)
		}
	}
	if got := birthday(1e18, 0); got != 0 {
		t.Errorf("what cannot clash clashes with chance %v", got)
	}
	if got, want := birthday(1e9, 1e-320), 5e-303; !near(got, want, 1e-3) { // p is no longer exact
		t.Errorf("birthday(1e9, 1e-320) = %v, want about %v", got, want)
	}
	if got, want := birthday(1e9, 1e-40), 0.5e-22; !near(got, want, 1e-8) {
		t.Errorf("birthday(1e9, 1e-40) = %v, want about %v", got, want)
	}
}

func TestStretchesOverlap(t *testing.T) {
	// Two ids overlap if their counters are equal, and nothing else does it.
	if got, want := stretchesOverlap(1, 0), 1.0/counters; got != want {
		t.Errorf("one id each: %v, want %v", got, want)
	}
	if got := stretchesOverlap(1, 1); got != 0 {
		t.Errorf("one id each under neighbouring bytes: %v, want 0", got)
	}
	if got := stretchesOverlap(counters, 0); got != 1 {
		t.Errorf("whole counters: %v, want 1", got)
	}
	if got := stretchesOverlap(300*counters, 150); got != 1 {
		t.Errorf("300 counters' worth, 150 bytes apart: %v, want 1", got)
	}
	// The rest against many trials.
	for _, c := range []struct{ n, apart int64 }{{counters / 3, 0}, {counters / 3, 1}, {counters * 3 / 2, 1}, {counters * 3 / 2, 2}} {
		const trials = 400_000
		hits := 0
		for range trials {
			distance := rand.Int64N(counters) - rand.Int64N(counters) + c.apart*counters
			if distance < c.n && distance > -c.n {
				hits++
			}
		}
		got, seen := stretchesOverlap(c.n, c.apart), float64(hits)/trials
		if math.Abs(got-seen) > 0.006 { // 7 standard deviations
			t.Errorf("stretchesOverlap(%d, %d) = %v, seen %v", c.n, c.apart, got, seen)
		}
	}
}

func TestPairRepeats(t *testing.T) {
	// One id each in one second: the same block, last byte and counter.
	want := 1.0 / blocks / lastBytes / counters
	if got := pairRepeats(1, 1); !near(got, want, 1e-14) {
		t.Errorf("pairRepeats(1, 1) = %v, want %v", got, want)
	}
	if got := pairRepeats(0.001, 1); !near(got, want/1e6, 1e-14) {
		t.Errorf("pairRepeats(0.001, 1) = %v, want %v", got, want/1e6)
	}
	// At the highest rate and for ever, the same block is enough for most.
	if got := pairRepeats(1e9, 1e9); got > 1.0/blocks || got < 0.5/blocks {
		t.Errorf("pairRepeats(1e9, 1e9) = %v, want somewhat less than %v", got, 1.0/blocks)
	}
}

// pairRepeats returns the chance that two processes of the modern layout create an id
// twice in the given number of seconds, each creating rate ids in each.
func pairRepeats(rate, seconds float64) float64 {
	return blockShared(func(apart int64) float64 { return repeats(rate, seconds, apart) }) / blocks
}
