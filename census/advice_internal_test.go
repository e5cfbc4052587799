package census

import (
	"strings"
	"testing"
	"time"
)

// TestAdvice holds from which numbers on a report advises something.
func TestAdvice(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	first := now.AddDate(-2, 0, 0)
	for _, test := range []struct {
		name         string
		second, hour int64
		field        string
		old, young   int64
		age          time.Duration // since the end of the bucket of the old ids
		want         string
	}{
		{"busy", 500, 30_000, "_id", 0, 1, 0, "Up to 500 ids a second"},
		{"a slower second", 499, 30_000, "_id", 0, 1, 0, ""},
		{"a quieter hour", 500, 29_999, "_id", 0, 1, 0, ""},
		{"another field", 500, 30_000, "customer", 1000, 0, 2 * 365 * 24 * time.Hour, ""},
		{"old", 1, 1, "_id", 25, 75, 365 * 24 * time.Hour, `At least 25 of 100 ids are older than a year. If documents expire with age, _id serves as the time: delete where _id is below ObjectId("691f02c00000000000000000")`},
		{"fewer old ones", 1, 1, "_id", 24, 76, 365 * 24 * time.Hour, ""},
		{"younger", 1, 1, "_id", 25, 75, 365*24*time.Hour - time.Second, ""},
	} {
		r := &Report{
			Field: test.field, ReferenceTime: now, First: &first, Distinct: test.old + test.young,
			Rates:    Rates{Busiest: []Peak{{Second, first, test.second}, {Minute, first, test.second}, {Hour, first, test.hour}, {Day, first, test.hour}}},
			Timeline: Timeline{Buckets: []Bucket{{first, test.old}, {now.Add(-test.age), test.young}}},
		}
		got := strings.Join(r.advice(), "\n")
		if (got != "") != (test.want != "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
