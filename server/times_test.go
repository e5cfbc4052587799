package server_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/server"
)

// A time in the place of an id is answered as a time, with links to the ids of its second.
func TestTimesTypedAsIDs(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	show := func(text string) string {
		return html.UnescapeString(r.get(t, "/?id="+url.QueryEscape(text)).body)
	}
	const first, last = "50918ca00000000000000000", "50918ca0ffffffffffffffff"
	for text, as := range map[string]string{
		"1351716000":                      "seconds since 1970",
		"1351716000000":                   "milliseconds since 1970",
		"1351716000000000":                "microseconds since 1970", // a Snowflake too
		"2012-10-31 20:40":                "a time without a zone, read in UTC",
		"new Date(1351716000000)":         "milliseconds since 1970",
		"1351716000.5":                    "seconds since 1970",
		"50918ca0":                        "the first 4 bytes of an ObjectId",
		"{\n\"$date\":\n1351716000000\n}": "milliseconds since 1970",
	} {
		page := show(text)
		for _, want := range []string{as, "2012-10-31 20:40:00 UTC", first, last, "years ago", "same second", "a minute around it"} {
			if !strings.Contains(page, want) {
				t.Errorf("%q: the page has no %q", text, want)
			}
		}
		link := regexp.MustCompile(`href="(/range\?[^"]+)">same second`).FindStringSubmatch(page)
		if link == nil {
			t.Errorf("%q: no link to the same second", text)
		} else if got := r.get(t, link[1]).body; !strings.Contains(got, first) || !strings.Contains(got, "50918ca10000000000000000") {
			t.Errorf("%q: %s does not show the ids of its second", text, link[1])
		}
	}
	for text, want := range map[string][]string{
		"201210312040":                         {"can be read in several ways", "1976-05-17 19:45:12 UTC", "2012-10-31 20:40:00 UTC"},
		"1351716000000000":                     {"snowflake", "Or read as"},
		"1351716000\n2012-10-31T20:41Z":        {"2012-10-31 20:40:00 UTC", "2012-10-31 20:41:00 UTC"},
		"508d7f20c3ebe77834343434\n1351716000": {"2012-10-28 18:53:20 UTC", "2012-10-31 20:40:00 UTC"},
		"hello\n1351716000\nworld!":            {"hello", "2012-10-31 20:40:00 UTC"},
	} {
		for page, want := show(text), want; len(want) > 0; want = want[1:] {
			if !strings.Contains(page, want[0]) {
				t.Errorf("%q: the page has no %q", text, want[0])
			}
		}
	}
	for _, text := range []string{"hello", "12345678", "deadbeef", "3f2a91bc", "507f1f77bcf86cd799439011", "175928847299117063", "1960-01-01T00:00:00Z"} {
		if page := show(text); strings.Contains(page, "ead as") {
			t.Errorf("%q is shown as a time", text)
		}
	}
}
