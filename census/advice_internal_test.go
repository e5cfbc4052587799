package census

import (
	"strings"
	"testing"
	"time"
)

// TestAdvice holds from which numbers on a report advises something.
func TestAdvice(t *testing.T) {
	for _, test := range []struct {
		name  string
		hour  int64
		field string
		want  string
	}{
		{"busy", 360_000, "_id", "Up to 360,000 ids an hour"},
		{"a quieter hour", 359_999, "_id", ""},
		{"another field", 360_000, "customer", ""},
	} {
		r := &Report{Field: test.field, Rates: Rates{Busiest: []Peak{{Hour, time.Time{}, test.hour}, {Day, time.Time{}, 360_000}}}}
		got := strings.Join(r.advice(), "\n")
		if (got != "") != (test.want != "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
