package testenv

import "testing"

// WithoutRace skips a test under the race detector: one that is long, that reaches real
// limits when slowed down, or in which the detector's own runtime crashes. "make test" runs
// these tests without it, and -short leaves them out. It finds them by this call, which is
// therefore in the test itself and not in a function that it calls.
func WithoutRace(t *testing.T) {
	t.Helper()
	Long(t, "is long, or reaches real limits")
	if UnderRace {
		t.Skip("not under the race detector; make test runs it without")
	}
}

// Seeds returns how many of n random cases a test plays, or of how many ids it makes them:
// all of them where the tests are run as a whole, see [Whole], and elsewhere, as under the
// race detector, a quarter, but at least two. "make test" plays all of them without the race
// detector, and finds the tests as it does those of [WithoutRace].
func Seeds(n uint64) uint64 {
	if Whole() && !UnderRace {
		return n
	}
	return max(n/4, 2)
}
