package timerange_test

import (
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/objectid"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"now":                       "2026-11-20T12:00:00Z",
		" 2026-11-20 ":              "2026-11-20T00:00:00Z",
		"2026-11-20T14:00":          "2026-11-20T14:00:00Z",
		"2026-11-20T14:00:00+01:00": "2026-11-20T13:00:00Z",
		"2026-11-20t14:00:00z":      "2026-11-20T14:00:00Z",
		"2026-11-20T14:00Z":         "2026-11-20T14:00:00Z",
		"2026-11-20 14:00-02:00":    "2026-11-20T16:00:00Z",
		"-7d":                       "2026-11-13T12:00:00Z",
		"-24000 months":             "0026-11-20T12:00:00Z",
		"-105850d":                  "1737-01-29T12:00:00Z",
		"+1h30m":                    "2026-11-20T13:30:00Z",
		"1795183200":                "2026-11-20T14:00:00Z",
		"@60":                       "1970-01-01T00:01:00Z",
		"@253402300799":             "9999-12-31T23:59:59Z",
		"@-253402300799":            "-6060-01-02T00:00:01Z",
		"507f1f77bcf86cd799439011":  "2012-10-17T21:13:27Z",
		"today":                     "2026-11-20T00:00:00Z",
		"Yesterday":                 "2026-11-19T00:00:00Z",
		"tomorrow":                  "2026-11-21T00:00:00Z",
		"last tuesday":              "2026-11-17T00:00:00Z",
		"last Friday":               "2026-11-13T00:00:00Z", // it is Friday
		"Last Thursday at 9:30":     "2026-11-19T09:30:00Z",
		"yesterday 09:30:15":        "2026-11-19T09:30:15Z",
		"todayT23":                  "2026-11-20T23:00:00Z",
		"T09":                       "2026-11-20T09:00:00Z",
		"9:05":                      "2026-11-20T09:05:00Z",
		"2026-11-19T09":             "2026-11-19T09:00:00Z",
		"2026-11-19 14:00:05.5Z":    "2026-11-19T14:00:05Z",
		"2 hours ago":               "2026-11-20T10:00:00Z",
		"2h ago":                    "2026-11-20T10:00:00Z",
		"an hour ago":               "2026-11-20T11:00:00Z",
		"1 hour and 30 minutes ago": "2026-11-20T10:30:00Z",
		"last week":                 "2026-11-13T12:00:00Z",
		"last month":                "2026-10-20T12:00:00Z",
		"last  Year":                "2025-11-20T12:00:00Z",
		"-1 day":                    "2026-11-19T12:00:00Z",
		"-1.5h":                     "2026-11-20T10:30:00Z",
		"+ 3 weeks":                 "2026-12-11T12:00:00Z",
		"-1y6mo":                    "2025-05-20T12:00:00Z",
		"+3mo":                      "2027-02-20T12:00:00Z",
		"-9mo":                      "2026-02-20T12:00:00Z",
		"-500ms":                    "2026-11-20T11:59:59Z",
	} {
		got, err := timerange.Parse(in, noon)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("Parse(%q) = %v, %v, want %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"":                 "want RFC 3339",
		"2026-11-31":       "no such date or time: day out of range",
		"2026-13-01":       "no such date or time: month out of range",
		"2026-11-20T24:00": "no such date or time: hour out of range",
		"soon":             "want RFC 3339",
		"0s":               "for this moment write now",
		"-1.5 months":      "want a whole number of months",
		"-24001 months":    "too long",
		"-105851d":         "too long",
		"-9999w9999w9999w": "too long",
		"--7d":             "want RFC 3339",
		"2 moons ago":      "not a distance",
		"last tues":        "want RFC 3339",
		"last tuesday 25":  "want RFC 3339",
		"last friday 9:60": "no such date or time: minute out of range",
		"9":                "write @9",
		"last month ago":   "not a distance",
		"a month":          "want RFC 3339",
		"-":                "not a distance",
		"7d":               "needs a sign",
		"-7x":              "not a distance",
		"2026":             "write @2026",
		"1795183200000":    "look like milliseconds",
		"17951832000":      "write @17951832000",

		"@253402300800":         "beyond the year 9999",
		"@-253402300800":        "beyond the year 9999",
		"@9223372036854775807":  "beyond the year 9999",
		"@-9223372036854775808": "beyond the year 9999",
		"@x":                    "not a number",
	} {
		if got, err := timerange.Parse(in, noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, %v, want an error with %q", in, got, err, want)
		}
	}
}

// Without a zone of their own, times are in that of now; days are those of its
// calendar.
func TestZone(t *testing.T) {
	east := time.FixedZone("", 8*60*60)
	for in, want := range map[string]string{
		"2026-11-20T08:00":       "2026-11-20T00:00:00Z",
		"2026-11-20":             "2026-11-19T16:00:00Z",
		"2026-11-20T08:00Z":      "2026-11-20T08:00:00Z",
		"2026-11-20 08:00+01:00": "2026-11-20T07:00:00Z",
		"yesterday":              "2026-11-19T16:00:00Z", // it is the 21st there
		"-1h":                    "2026-11-20T15:30:00Z",
	} {
		got, err := timerange.Parse(in, noon.Add(4*time.Hour+30*time.Minute).In(east))
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("Parse(%q) = %v, %v, want %s", in, got, err, want)
		}
	}
}

// TestChangedClocks reads times of days on which the clocks are changed.
func TestChangedClocks(t *testing.T) {
	for _, c := range []struct{ zone, in, want, err string }{
		{"Europe/Berlin", "2026-10-25T01:59:59", "2026-10-24T23:59:59Z", ""},
		{"Europe/Berlin", "2026-10-25T02:00", "", "showed it twice; write 2026-10-25T02:00:00+02:00 or 2026-10-25T02:00:00+01:00"},
		{"Europe/Berlin", "2026-10-25T02:59:59", "", "showed it twice"},
		{"Europe/Berlin", "2026-10-25T02:30+01:00", "2026-10-25T01:30:00Z", ""},
		{"Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z", ""},
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", ""},
		{"Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59Z", ""},
		{"Europe/Berlin", "2026-03-29T02:00", "", "skipped it; 2026-03-29T03:00:00+02:00 is the moment after it"},
		{"Europe/Berlin", "2026-03-29T02:59:59", "", "skipped it"},
		{"Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00Z", ""},
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", ""}, // 0:00 comes twice
		{"America/Havana", "2026-11-01T00:00", "", "showed it twice"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", ""}, // it begins at 1:00
		{"Australia/Lord_Howe", "2026-04-05T01:45", "", "showed it twice; write 2026-04-05T01:45:00+11:00 or 2026-04-05T01:45:00+10:30"},
		{"UTC", "2026-10-25T02:30", "2026-10-25T02:30:00Z", ""},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		got, err := timerange.Parse(c.in, noon.In(zone))
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s in %s: %v, %v, want an error with %q", c.in, c.zone, got, err, c.err)
		case c.err == "" && (err != nil || got.UTC().Format(time.RFC3339) != c.want):
			t.Errorf("%s in %s = %v, %v, want %s", c.in, c.zone, got, err, c.want)
		}
	}
	santiago, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	half := time.Date(2026, 10, 6, 0, 30, 0, 0, santiago) // no clock showed 2026-09-06 0:30
	if got, err := timerange.Parse("-1mo", half); err != nil || got.UTC().Format(time.RFC3339) != "2026-09-06T03:30:00Z" {
		t.Errorf("-1mo of %v = %v, %v", half, got, err)
	}
	monday := time.Date(2026, 10, 26, 0, 30, 0, 0, time.UTC)
	for in, want := range map[string]string{"yesterday": "2026-10-24T22:00:00Z", "last sunday 3:00": "2026-10-25T02:00:00Z"} {
		berlin, _ := time.LoadLocation("Europe/Berlin")
		if got, err := timerange.Parse(in, monday.In(berlin)); err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s = %v, %v, want %s", in, got, err, want)
		}
	}
}

// The same day of a shorter month is its last.
func TestEndsOfMonths(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"2026-03-31", "-1mo"}: "2026-02-28", {"2028-03-31", "last month"}: "2028-02-29", {"2028-02-29", "-1y"}: "2027-02-28",
		{"2026-01-31", "+1mo"}: "2026-02-28", {"2026-01-31", "-2mo"}: "2025-11-30", {"2026-05-31", "-2mo"}: "2026-03-31",
	} {
		now, err := time.Parse(time.DateOnly, in[0])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := timerange.Parse(in[1], now); err != nil || got.Format(time.DateOnly) != want {
			t.Errorf("%s of %s = %v, %v, want %s", in[1], in[0], got, err, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"36h": 36 * time.Hour, "7d": 7 * 24 * time.Hour, "2 weeks": 14 * 24 * time.Hour, "1 year": 365 * 24 * time.Hour,
		"0s": 0, "1month": 31 * 24 * time.Hour, "90": 0, "-1h": 0, "": 0,
	} {
		got, err := timerange.Duration(in, noon)
		if got != want || (err != nil) != (want == 0 && in != "0s") {
			t.Errorf("Duration(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		span timerange.Span
		want objectid.Range
		err  string
	}{
		{span: timerange.Span{}},
		{span: timerange.Span{From: "2106-02-07T06:28:15Z"}, want: objectid.Since(time.Unix(1<<32-1, 0))},
		{span: timerange.Span{From: "2106-02-07T06:28:16Z"}, err: "the last second"},
		{span: timerange.Span{To: "1970-01-01"}, err: "the first second"},
		{span: timerange.Span{From: "1960-01-01", To: "9000-01-01"}, want: objectid.Between(time.Unix(-1e9, 0), time.Unix(1<<33, 0))},
		{span: timerange.Span{Since: "24h"}, want: objectid.Since(noon.Add(-24 * time.Hour))},
		{span: timerange.Span{Since: "2026-11-01"}, want: objectid.Since(noon.AddDate(0, 0, -19).Truncate(24 * time.Hour))},
		{span: timerange.Span{Since: "1day"}, want: objectid.Since(noon.AddDate(0, 0, -1))},
		{span: timerange.Span{Since: "2 months"}, want: objectid.Since(noon.AddDate(0, -2, 0))},
		{span: timerange.Span{Since: "1y"}, want: objectid.Since(noon.AddDate(-1, 0, 0))},
		{span: timerange.Span{Since: "yesterday"}, want: objectid.Since(noon.Add(-36 * time.Hour))},
		{span: timerange.Span{Since: "0s"}, err: "for this moment write now"},
		{span: timerange.Span{Since: "-24h"}, want: objectid.Since(noon.Add(-24 * time.Hour))},
		{span: timerange.Span{Since: "now"}, want: objectid.Since(noon)},
		{span: timerange.Span{Since: "+1h"}, err: "since: time \"+1h\": it is in the future"},
		{span: timerange.Span{Since: "2027-01-01"}, err: "it is in the future"},
		{span: timerange.Span{Since: "0"}, err: "write @0"},
		{span: timerange.Span{To: "now"}, want: objectid.Until(noon)},
		{span: timerange.Span{From: "-2d", To: "-1d"}, want: objectid.Between(noon.AddDate(0, 0, -2), noon.AddDate(0, 0, -1))},
		{span: timerange.Span{From: "2026-11-14", To: "+1h"}, want: objectid.Between(noon.Add(-156*time.Hour), noon.Add(-155*time.Hour))},
		{span: timerange.Span{From: "last tuesday 9:00", To: "10:00"}, want: objectid.Between(noon.Add(-75*time.Hour), noon.Add(-74*time.Hour))},
		{span: timerange.Span{From: "2026-11-14T09", To: "last friday 10:00"}, err: "the range is empty"},
		{span: timerange.Span{To: "+1h"}, want: objectid.Until(noon.Add(time.Hour))},
		{span: timerange.Span{Since: "24h", To: "10:00"}, want: objectid.Between(noon.Add(-24*time.Hour), noon.Add(-2*time.Hour))},
		{span: timerange.Span{From: "-2d", To: "-1d"}, want: objectid.Between(noon.AddDate(0, 0, -2), noon.AddDate(0, 0, -1))},
		{span: timerange.Span{From: "now", To: "-1d"}, err: "the range is empty"},
		{span: timerange.Span{Since: "24h", From: "now"}, err: "both given"},
		{span: timerange.Span{From: "soon"}, err: `from: time "soon"`},
		{span: timerange.Span{To: "soon"}, err: `to: time "soon"`},
	} {
		got, err := c.span.Range(noon)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%+v: error %v, want %q", c.span, err, c.err)
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%+v = %v, %v, want %v", c.span, got, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("now")
	f.Add("-7d")
	f.Add("@1795183200")
	f.Add("ISODate('2026-11-20T14:00:00Z')")
	f.Add("Fri Nov 20 2026 14:00:00 GMT+0100 (CET)")
	f.Add("{\"$date\":{\"$numberLong\":\"1795183200000\"}}")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := timerange.Parse(s, noon)
		if err == nil && got.IsZero() {
			t.Errorf("Parse(%q) is the zero time without an error", s)
		}
	})
}
