package phrase_test

import (
	"testing"
	"time"

	"github.com/oidkit/oid/internal/phrase"
)

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 ids", 1: "1 id", 2: "2 ids", 1234567: "1,234,567 ids"} {
		if got := phrase.Count(n, "id", "ids"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999 * time.Millisecond: "0s", time.Second: "1s", 59 * time.Second: "59s", time.Minute: "1m",
		512 * time.Second: "8m32s", time.Hour: "1h", time.Hour + 59*time.Second: "1h", time.Hour + 60*time.Second: "1h1m",
		43*time.Hour + 59*time.Minute: "1d19h", 24 * time.Hour: "1d", 24*time.Hour + 59*time.Minute: "1d",
		-90 * time.Second: "-1m", -43 * time.Hour: "-1d", -999 * time.Millisecond: "0s",
	} {
		if got := phrase.Length(d); got != want {
			t.Errorf("Length(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	const (
		day  = 24 * time.Hour
		year = 31_556_952 * time.Second
	)
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "now", 999 * time.Millisecond: "now",
		time.Second: "1 second ago", 59 * time.Second: "59 seconds ago",
		time.Minute: "1 minute ago", time.Hour - time.Second: "59 minutes ago",
		time.Hour: "1 hour ago", day - time.Second: "23 hours ago",
		day: "1 day ago", 7*day - time.Second: "6 days ago",
		7 * day: "1 week ago", 30*day - time.Second: "4 weeks ago",
		30 * day: "1 month ago", 360*day - time.Second: "11 months ago",
		360 * day: "1 year ago", year: "1 year ago", 2*year - time.Second: "1 year ago", 2 * year: "2 years ago", 54 * year: "54 years ago",
		40 * time.Second: "40 seconds ago", -3 * time.Minute: "3 minutes from now", 17 * 30 * day: "1 year ago", 3*year - time.Second: "2 years ago",
		100 * year: "100 years ago", -2 * year: "2 years from now", -100 * year: "100 years from now",
		-time.Second: "1 second from now", -2 * day: "2 days from now", -79 * year: "79 years from now",
	} {
		if got := phrase.Ago(now.Add(-d), now); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
}
