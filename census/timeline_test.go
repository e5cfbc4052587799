package census_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // where the system has none

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

// at returns an id of the time t with some process value and counter.
func at(t time.Time, counter byte) objectid.ID {
	id := objectid.MinAt(t)
	copy(id[4:], "\xaa\xbb\xcc\xdd\xee\x00\x00")
	id[11] = counter
	return id
}

func TestBuckets(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	// The night in which summer time ends, a Saturday to Sunday.
	first := time.Date(2024, 10, 26, 23, 30, 10, 0, berlin)
	for _, test := range []struct {
		by   census.Interval
		last time.Time
		want string
	}{
		{census.IntervalMinute, first.Add(2 * time.Minute), "2024-10-26T23:30:00+02:00 2024-10-26T23:31:00+02:00 2024-10-26T23:32:00+02:00"},
		{census.IntervalHour, first.Add(4 * time.Hour), "2024-10-26T23:00:00+02:00 2024-10-27T00:00:00+02:00 2024-10-27T01:00:00+02:00 2024-10-27T02:00:00+02:00 2024-10-27T02:00:00+01:00"},
		{census.IntervalDay, first.Add(26 * time.Hour), "2024-10-26T00:00:00+02:00 2024-10-27T00:00:00+02:00 2024-10-28T00:00:00+01:00"},
		{census.IntervalWeek, first.Add(26 * time.Hour), "2024-10-21T00:00:00+02:00 2024-10-28T00:00:00+01:00"},
		{census.IntervalMonth, first.Add(30 * 24 * time.Hour), "2024-10-01T00:00:00+02:00 2024-11-01T00:00:00+01:00"},
		{census.IntervalYear, first.Add(100 * 24 * time.Hour), "2024-01-01T00:00:00+01:00 2025-01-01T00:00:00+01:00"},
		{census.IntervalAuto, first.Add(11 * time.Hour), "2024-10-26T23:00:00+02:00 2024-10-27T00:00:00+02:00 2024-10-27T01:00:00+02:00 2024-10-27T02:00:00+02:00 2024-10-27T02:00:00+01:00 " +
			"2024-10-27T03:00:00+01:00 2024-10-27T04:00:00+01:00 2024-10-27T05:00:00+01:00 2024-10-27T06:00:00+01:00 2024-10-27T07:00:00+01:00 2024-10-27T08:00:00+01:00 2024-10-27T09:00:00+01:00"},
	} {
		ids := []objectid.ID{at(first, 1), at(test.last, 2)}
		if test.by == census.IntervalAuto {
			ids = append(ids, at(first.Add(10*time.Minute), 3)) // 660 minutes are too many, 12 hours are not
		}
		r := reportOf(t, ids, &census.Options{Now: first.Add(1000 * 24 * time.Hour)}, &census.ReportOptions{By: test.by, Zone: berlin})
		var got []string
		var sum int64
		for _, b := range r.Timeline.Buckets {
			got = append(got, b.Start.Format(time.RFC3339))
			sum += b.IDs
		}
		if strings.Join(got, " ") != test.want || sum != int64(len(ids)) {
			t.Errorf("by %v: %v with %d ids, want %s", test.by, got, sum, test.want)
		}
	}
}

// TestFarIDs counts ids of which one in a thousand is years away: the timeline
// that is chosen is that of the others.
func TestFarIDs(t *testing.T) {
	start := time.Date(2024, 3, 20, 0, 0, 0, 0, time.UTC)
	var ids []objectid.ID
	for i := range 2000 {
		ids = append(ids, at(start.Add(time.Duration(i)*time.Minute), byte(i)))
	}
	ids = append(ids, at(start.AddDate(-5, 0, 0), 1), at(start.AddDate(1, 0, 0), 1))
	r := reportOf(t, ids, nil, nil)
	if r.Timeline.By != census.IntervalHour || len(r.Timeline.Buckets) != 34 || r.Timeline.Beyond != 2 {
		t.Errorf("%d buckets of a %v, %d ids beyond", len(r.Timeline.Buckets), r.Timeline.By, r.Timeline.Beyond)
	}
	if !r.First.Equal(start.AddDate(-5, 0, 0)) || !r.Last.Equal(start.AddDate(1, 0, 0)) {
		t.Errorf("from %v to %v", r.First, r.Last)
	}
}

func TestRange(t *testing.T) {
	start := time.Date(2024, 3, 20, 0, 0, 0, 0, time.UTC)
	var ids []objectid.ID
	for i := range 100 {
		ids = append(ids, at(start.Add(time.Duration(i)*time.Second), byte(i)))
	}
	r := reportOf(t, ids, &census.Options{Range: objectid.Between(start.Add(10*time.Second), start.Add(30*time.Second))}, nil)
	if r.IDs != 20 || r.Distinct != 20 || r.Outside != 80 || !r.First.Equal(start.Add(10*time.Second)) || !r.Last.Equal(start.Add(29*time.Second)) {
		t.Errorf("%d ids, %d different, %d outside, %v to %v", r.IDs, r.Distinct, r.Outside, r.First, r.Last)
	}
}
