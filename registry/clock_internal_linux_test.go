package registry

import (
	"testing"
	"time"
)

func TestNamespaceOffset(t *testing.T) {
	got, err := parseOffset("monotonic           5        7\nboottime         0         0\n")
	if want := 5*time.Second + 7; err != nil || got != want {
		t.Errorf("offset = %v, %v, want %v", got, err, want)
	}
	for _, text := range []string{"", "boottime 0 0\n", "monotonic 5\n", "monotonic x 0\n"} {
		if d, err := parseOffset(text); err == nil {
			t.Errorf("%q: %v, want an error", text, d)
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
