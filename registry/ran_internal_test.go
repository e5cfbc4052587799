package registry

import (
	"testing"
	"time"
)

// People read the reasons: a time of years is not a number of hours.
func TestSecondsOfReasons(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1:                             "1s",
		time.Second:                   "1s",
		time.Second + 1:               "2s",
		10 * time.Minute:              "10m0s",
		48*time.Hour - 1:              "48h0m0s",
		48 * time.Hour:                "2 days",
		97776*time.Hour + time.Minute: "4074 days",
	} {
		if got := wholeSeconds(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
