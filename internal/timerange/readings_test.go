package timerange_test

import (
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/timerange"
)

// TestReadings has a text, and its readings in the order in which they are shown. Three answers
// are possible: one reading, several that cannot be told apart, and none.
func TestReadings(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const (
		s, ms, us, ns = "seconds since 1970", "milliseconds since 1970", "microseconds since 1970", "nanoseconds since 1970"
		local         = timerange.AsLocal + " Europe/Berlin"
	)
	for text, want := range map[string]string{
		// numbers: what JavaScript, Python, Redis, nginx, Go and BSON print
		"1351716000":                                  "2012-10-31T20:40:00Z " + s,
		" 1351716000\n":                               "2012-10-31T20:40:00Z " + s,
		`"1351716000"`:                                "2012-10-31T20:40:00Z " + s,
		"1351716000.25":                               "2012-10-31T20:40:00.25Z " + s,
		"1351716000000":                               "2012-10-31T20:40:00Z " + ms,
		"1351716000123":                               "2012-10-31T20:40:00.123Z " + ms,
		"1351716000123.5":                             "2012-10-31T20:40:00.1235Z " + ms,
		"1351716000123456":                            "2012-10-31T20:40:00.123456Z " + us,
		"1351716000123456789":                         "2012-10-31T20:40:00.123456789Z " + ns,
		"100000000":                                   "1973-03-03T09:46:40Z " + s,
		"4294967295":                                  "2106-02-07T06:28:15Z " + s,
		"100000000000":                                "1973-03-03T09:46:40Z " + ms,
		"4294967295000":                               "2106-02-07T06:28:15Z " + ms,
		"@1351716000":                                 "2012-10-31T20:40:00Z " + timerange.AsTime,
		`NumberLong("1351716000000")`:                 "2012-10-31T20:40:00Z " + ms,
		"NumberLong(1351716000)":                      "2012-10-31T20:40:00Z " + s,
		"Int64('1351716000')":                         "2012-10-31T20:40:00Z " + s,
		`{"$numberLong":"1351716000"}`:                "2012-10-31T20:40:00Z " + s,
		"new Date(1351716000000)":                     "2012-10-31T20:40:00Z " + ms,
		"Timestamp(1351716000, 1)":                    "2012-10-31T20:40:00Z " + s,
		"Timestamp({t: 1351716000, i:1})":             "2012-10-31T20:40:00Z " + s,
		`{"$timestamp":{"t":1351716000,"i":1}}`:       "2012-10-31T20:40:00Z " + s,
		`{"$date":{"$numberLong":"1351716000000"}}`:   "2012-10-31T20:40:00Z " + ms,
		"{\n  \"$date\": \"2012-10-31T20:40:00Z\"\n}": "2012-10-31T20:40:00Z " + timerange.AsTime,

		// dates and times, with and without a zone
		"2012-10-31T20:40:00Z":                    "2012-10-31T20:40:00Z " + timerange.AsTime,
		"2012-10-31 20:40":                        "2012-10-31T19:40:00Z " + local,
		"2012-10-31":                              "2012-10-30T23:00:00Z " + local,
		`ISODate("2012-10-31T20:40:00Z")`:         "2012-10-31T20:40:00Z " + timerange.AsTime,
		"Wed Oct 31 2012 20:40:00 GMT+0000 (UTC)": "2012-10-31T20:40:00Z " + timerange.AsTime,
		"Wed Oct 31 20:40:00 UTC 2012":            "2012-10-31T20:40:00Z " + timerange.AsTime,
		"31/Oct/2012:20:40:00 +0000":              "2012-10-31T20:40:00Z " + timerange.AsTime,
		"yesterday":                               "2026-11-18T23:00:00Z " + local,
		"2 hours ago":                             "2026-11-20T10:00:00Z " + timerange.AsTime,
		"20121031204000":                          "2012-10-31T19:40:00Z " + local,
		"20121031":                                "2012-10-30T23:00:00Z " + local,

		// the first digits of an id
		"508d7f20":   "2012-10-28T18:53:20Z " + timerange.AsHex,
		"508D7F20":   "2012-10-28T18:53:20Z " + timerange.AsHex,
		"0x508d7f20": "2012-10-28T18:53:20Z " + timerange.AsHex,
		"50910628":   "2012-10-31T11:06:16Z " + timerange.AsHex,

		// several readings
		"201210312040": "1976-05-17T19:45:12.04Z " + ms + ", 2012-10-31T19:40:00Z " + local,
		"2033103120":   "2034-06-05T06:52:00Z " + s + ", 2033-10-31T19:00:00Z " + local,

		// none: too small, too large, a word, a Snowflake, the beginning of a hash
		"12345678": "", "99999999": "", "4294967296": "", "10000000000": "", "99999999999": "", "1351716000.": "2012-10-31T20:40:00Z " + s,
		"deadbeef": "", "3f2a91bc": "", "7fffffff": "", "20121331": "", "hello": "", "": "", "7": "", "1.2.3": "", "10.0.0.1": "", ".": "",
		"175928847299117063": "", "999999999999999": "", "9223372036854775808": "", "-1351716000": "", "01/02/2026": "",
		"2026-10-25T02:30": "", "202610250230": "", // the clocks showed it twice
		"1969-12-31T23:59:59Z": "", "2106-02-07T06:28:16Z": "", "2106-02-07T06:28:15.5Z": "2106-02-07T06:28:15.5Z " + timerange.AsTime,
		"4294967295.9":          "2106-02-07T06:28:15.9Z " + s,
		"order 1351716000 paid": "", strings.Repeat("1", 101): "", strings.Repeat(" ", 99) + "1351716000": "",
	} {
		var got []string
		for _, r := range timerange.Readings(text, noon.In(berlin)) {
			got = append(got, strings.TrimSpace(r.Time.Format(time.RFC3339Nano)+" "+r.As+" "+r.Zone))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("Readings(%q) = %q, want %q", text, strings.Join(got, ", "), want)
		}
	}
}

// FuzzReadings checks that a reading of a number is within the years that the rule permits.
func FuzzReadings(f *testing.F) {
	for _, s := range []string{"1351716000", "201210312040", "508d7f20", "1351716000.25", "0x508d7f20", "NumberLong(1351716000)", "2012-10-31 20:40", `{"$date":1351716000000}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range timerange.Readings(s, noon) {
			if r.As == "" || r.Time.IsZero() || r.Time.Location() != time.UTC {
				t.Errorf("Readings(%q) has %+v", s, r)
			}
			if year := r.Time.Year(); len(s) < 20 && strings.Trim(s, "0123456789abcdef.") == "" && (year < 1973 || year > 2106) {
				t.Errorf("Readings(%q) has the year %d", s, year)
			}
		}
	})
}
