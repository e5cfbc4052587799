package registry

import (
	"testing"
	"time"
)

func TestNamespaceOffset(t *testing.T) {
	for text, want := range map[string]bool{
		"monotonic           5        7\nboottime         0         0\n":  true,
		"monotonic           0        -7\nboottime         0         0\n": true,
		"monotonic           0        0\nboottime         0         0\n":  false,
	} {
		if got := shifted(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestMonotonicIsTheClockOfTheBoot(t *testing.T) {
	a := monotonic()
	time.Sleep(time.Millisecond)
	if b := monotonic(); a <= 0 || b-a < time.Millisecond {
		t.Errorf("%v, then %v", a, b)
	}
}
