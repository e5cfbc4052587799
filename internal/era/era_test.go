package era_test

import (
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
	for at, want := range map[string]objectid.Layout{
		"2017-12-31T23:59:59Z": objectid.Classic, "2018-01-01T00:00:00Z": objectid.Modern,
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := era.Layouts(when); got[0] != want || len(got) != 3 || got[0] == got[1] || got[1] == got[2] {
			t.Errorf("layouts at %s: %v, want %v first", at, got, want)
		}
	}
	for got, want := range map[time.Time]string{
		era.First: "2009-01-01", era.JavaEnd: "2015-03-01", era.RandomValue: "2018-01-01",
		era.UUID: "1998-01-01", era.ULID: "2016-01-01", era.KSUID: "2014-05-01", era.XID: "2015-01-01",
		era.Mastodon: "2017-10-01", era.PushID: "2012-04-01", era.GPID: "2001-09-01",
	} {
		if got.Format(time.DateOnly) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
