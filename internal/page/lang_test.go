package page_test

import (
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/query"
)

// notWords match the parts of a page that are the same in all languages: code, ids, times, and
// the names of the fields of a format.
var notWords = []string{
	`(?s)<(?:head|pre|code|textarea|time|svg)[ >].*?</(?:head|pre|code|textarea|time|svg)>`,
	`<span data-ago=[^>]*>[^<]*`, // the script writes it
	`<span class="soft also"[^>]*>[^<]*`,
	`<span class="(?:f-[a-z]+|hex|what)">[^<]*`,
	`<(?:b|h2|a) class="(?:id|the-id)"[^>]*>[^<]*`,
	` lang="en">[^<]*`,
	`data-[a-z]+="[^"]*"`,
}

// shownTexts returns the other texts that a page shows, or that a screen reader says.
func shownTexts(page string) (texts []string) {
	for _, p := range notWords {
		page = regexp.MustCompile(p).ReplaceAllString(page, "")
	}
	for _, m := range regexp.MustCompile(` (?:aria-label|title|placeholder|alt)="([^"]*)"|>([^<]*)`).FindAllStringSubmatch(page, -1) {
		if text := strings.TrimSpace(html.UnescapeString(m[1] + m[2])); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// The only English on a Chinese page is names, errors, and the text of the ids themselves.
func TestChinesePageIsChinese(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	site := &page.Site{Static: true, Lang: "zh"}
	han, latin := regexp.MustCompile(`\p{Han}`), regexp.MustCompile(`[A-Za-z]{2}`)
	names := append([]string{"oid", "中文", "English", "id", "pid", "hex", "base64", "mongosh", "ObjectId", "modern：oid", "customer._id", "Extended JSON", "MongoDB shell、Compass、Python", "UTC", "now, 2026-12-01…", inspect.Names() + "."},
		each.Of(query.Languages, func(l query.Language) string { return l.Name })...)
	reading := regexp.MustCompile(`^(` + strings.Join(each.Of(inspect.Formats(), func(f inspect.Format) string { return string(f) }), "|") + `)( [a-z0-9]+)?$`)
	for _, address := range []string{
		"#", "#id=507f1f77bcf86cd799439011", "#id=4e7020cb7cac81af7136236b", "#id=6b01f0f4efc3f77301328471", "#id=000000000000000000000000", "#id=507f1f770000000000000000",
		"#id=018f2f9b-7b3c-7c3a-8d1e-2f3a4b5c6d7e", "#id=110ec58a-a0f2-4ac4-8393-c866d813b8d1", "#id=01ARZ3NDEKTSV4RRFFQ69G5FAV", "#id=1541815603606036480",
		"#id=" + strings.Repeat("507f1f77bcf86cd799439011+", 8), "#id=nothing", "#id=1351716000", "#id=2012-10-31+20:40", "#id=508d7f20", "#id=7fffffff0000000000000001", "#id=2200-01-01", "#id=%22xyz%22", "#range=24h", "#range=2026-11-01/", "#range=", "#range=x/y", "#odds=", "#odds=1000", "#odds=x",
		"#odds=1e6&rate=1e6", "#census",
	} {
		f, _ := site.Answer(address, "", "UTC", now)
		if address == "#census" { // and what follows
			f.Below = site.Report(func(io.Writer) error { return nil }, true, []page.Again{{Field: "customer._id"}})
		}
		var b strings.Builder
		if err := site.Frame(f).Render(&b); err != nil {
			t.Fatal(err)
		}
		for _, text := range shownTexts(b.String()) {
			if !han.MatchString(text) && latin.MatchString(text) && !slices.Contains(names, text) && !reading.MatchString(text) && !strings.HasPrefix(text, "election 1 of") {
				t.Errorf("%s: English: %q", address, text)
			}
		}
	}
}
