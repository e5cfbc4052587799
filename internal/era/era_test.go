package era_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/objectid"
)

func TestBorders(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	if era.IsFuture(now.Add(5*time.Minute), now) || !era.IsFuture(now.Add(5*time.Minute+time.Second), now) {
		t.Error("the future does not begin after five minutes")
	}
	for at, want := range map[string]string{
		"2008-12-31T23:59:59Z": "classic java modern, 0 0 0",
		"2009-01-01T00:00:00Z": "classic java modern, 2 1 1",
		"2014-01-01T00:00:00Z": "classic java modern, 2 1 1",
		"2018-07-31T23:59:59Z": "classic java modern, 2 1 1",
		"2018-08-01T00:00:00Z": "modern classic java, 2 1 0",
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		l := era.Layouts(when)
		if got := fmt.Sprintf("%v %v %v, %d %d %d", l[0], l[1], l[2], era.Used(l[0], when), era.Used(l[1], when), era.Used(l[2], when)); got != want {
			t.Errorf("layouts at %s: %s, want %s", at, got, want)
		}
	}
	for got, want := range map[time.Time]string{
		era.First: "2009-01-01", era.Random: "2018-08-01",
		era.UUID: "1998-01-01", era.ULID: "2016-01-01", era.KSUID: "2014-05-01", era.XID: "2015-01-01",
		era.Mastodon: "2017-10-01", era.GPID: "2001-09-01",
	} {
		if got.Format(time.DateOnly) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// TestElection reads electionIds as mongod logs them, and ids that are one thing off.
func TestElection(t *testing.T) {
	for text, want := range map[string]uint32{
		"7fffffff0000000000000001": 1, "7fffffff0000000000000005": 5, "7fffffff00000000ffffffff": 1<<32 - 1,
		"7fffffff0000000000000000": 0, // the first id of that second, a bound of a range
		"7fffffff0000000100000000": 0, "7fffffffbcf86cd799439011": 0, "7ffffffe0000000000000005": 0, "ffffffff0000000000000005": 0,
		"000000000000000000000005": 0, "507f1f77bcf86cd799439011": 0,
	} {
		if got, ok := era.Election(objectid.MustParse(text)); ok != (want > 0) || ok && got != want {
			t.Errorf("Election(%s) = %d, %v, want %d", text, got, ok, want)
		}
	}
}
