package page_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/page"
)

// What the static page says of an address.
func TestAnswer(t *testing.T) {
	site := &page.Site{Static: true, Docs: "docs/index.html#part"}
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	bad := strings.Repeat("zz-is-no-id\n", 150)
	for _, c := range []struct{ address, form, zone, want, shown string }{
		{"#id=507f1f77bcf86cd799439011", "", "UTC", `<a href="docs/deploy.html">`, "#id=507f1f77bcf86cd799439011"},
		{"#range=2026-11-01T10:00/%2B2h&tz=Europe/Berlin", "", "UTC", ">6ae6ff900000000000000000<", "#range=2026-11-01T10:00/%2B2h&tz=Europe%2FBerlin"},
		{"#range=2026-11-01T10:00/%2B2h", "", "Europe/Berlin", ">6ae70da00000000000000000<", "#range=2026-11-01T10:00/%2B2h"}, // a link means the same time everywhere
		{"#id=2026-11-01%2010:00", "", "UTC", `datetime="2026-11-01T10:00:00Z"`, "#id=2026-11-01%2010:00"},
		{"#id=2026-11-01%2010:00", "", "Europe/Berlin", `datetime="2026-11-01T09:00:00Z"`, "#id=2026-11-01%2010:00&tz=Europe%2FBerlin"},
		{"#id=2026-11-01%2010:00&tz=Asia/Tokyo", "", "Europe/Berlin", `datetime="2026-11-01T01:00:00Z"`, "#id=2026-11-01%2010:00&tz=Asia%2FTokyo"},
		{"#", "id=" + url.QueryEscape(bad), "UTC", ">100 pieces are not ids<", "#id=" + strings.ReplaceAll(strings.TrimSpace(bad), "\n", "%0A")},
		{"#", "id=" + strings.Repeat("507f1f77bcf86cd799439011+", 161), "UTC", ">161 ids<", "#"},
		{"#new", "count=3&format=sql", "UTC", "X&#39;", "#"},
		{"#new", "count=x", "UTC", "want a whole number from 1 to 10,000", "#"},
		{"#new", "count=10001", "UTC", "count 10001: want at most 10,000 ids per request", "#"},
		{"#odds=5&layout=no", "", "UTC", "layout &#34;no&#34;: want one of the list", "#odds=5&layout=no"},
		{"#id=1.11.2026", "", "UTC", "<code>2026-11-01 12:00</code>", "#id=1.11.2026"}, // how to write it
		{"#range=soon", "", "UTC", "want RFC 3339", "#range=soon"},
	} {
		f, shown := site.Answer(c.address, c.form, c.zone, now)
		var html strings.Builder
		if err := f.Contents.Render(&html); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(html.String(), c.want) || shown != c.shown {
			t.Errorf("%.60s %.40s: its address is %.200s, want %.200s; it has no %s in %.3000s", c.address, c.form, shown, c.shown, c.want, html.String())
		}
		for _, m := range regexp.MustCompile(`(?:href|action)="([^"]*)"`).FindAllStringSubmatch(html.String(), -1) {
			if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "docs/") {
				t.Errorf("%s links %s, which is no part of the static page", c.address, m[1])
			}
		}
	}
}
