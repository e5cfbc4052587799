package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/server"
)

// vector is a row of docs/reference/notations.md.
type vector struct {
	text, id string // the id is empty if nobody can tell it
	anywhere bool
	escaped  bool // an escape before the id, which is no notation
}

// vectors returns the rows of docs/reference/notations.md.
func vectors(t *testing.T) (all []vector) {
	page, err := os.ReadFile("../../docs/reference/notations.md")
	if err != nil {
		t.Fatal(err)
	}
	notations, escapes, _ := strings.Cut(string(page), "\n## Escapes")
	for i, part := range []string{notations, escapes} {
		for _, m := range regexp.MustCompile("(?m)^\\| `(.*)` \\| (?:`(.*)`|the time alone) \\| (yes|no) \\|$").FindAllStringSubmatch(part, -1) {
			text := strings.NewReplacer("ESC", "\x1b", "⏎", "\n").Replace(m[1])
			all = append(all, vector{text, m[2], m[3] == "yes", i == 1})
		}
	}
	if rows := strings.Count(string(page), "\n| `"); rows != len(all) || rows < 60 {
		t.Fatalf("%d of %d rows", len(all), rows)
	}
	return all
}

// TestNotationsEverywhere reads each row of the page on notations with all four readers of text:
// oid inspect, oid annotate, oid census and the page of the server.
func TestNotationsEverywhere(t *testing.T) {
	s, err := server.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(s)
	t.Cleanup(site.Close)
	for _, v := range vectors(t) {
		isObjectID := len(v.id) == 24
		shown := "\n" + v.id + "\n"

		// Alone.
		inspected := oid(t, v.text, "inspect")
		if v.id == "" && (inspected.code == 0 || !strings.Contains(inspected.err, "only the time of an ObjectId")) || strings.Count("\n"+inspected.out, shown) != 1 && v.id != "" {
			t.Errorf("oid inspect of %q: %+v", v.text, inspected)
		}
		answer, err := http.PostForm(site.URL+"/", url.Values{"id": {v.text}})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if page := string(body); err != nil || v.id != "" && (strings.Count(page, `class="id-card"`) != 1 || !strings.Contains(page, `data-copy="`+v.id+`"`)) || v.id == "" && !strings.Contains(page, "only the time of an ObjectId") {
			t.Errorf("the page of %q: %v, %s", v.text, err, regexp.MustCompile(`(?s)<main.*</main>`).FindString(page))
		}
		typed := strings.Contains(v.text, "$binary") || strings.HasPrefix(v.text, "UH8")
		if !v.escaped {
			list := oid(t, v.text+"\n", "census", "--format", "list", "-")
			if found := strings.Contains(list.out, "1 ObjectId"); found != (isObjectID && !strings.HasPrefix(v.text, "UH8")) {
				t.Errorf("oid census of the list %q: %+v", v.text, list)
			}
		}
		if strings.IndexByte("{[OnBmb", v.text[0]) >= 0 && !strings.Contains(v.text, "=>") && !v.escaped && v.text[1] != '\'' && !strings.Contains(v.text, "BSON::") && !strings.Contains(v.text, `\B`) && !strings.Contains(v.text, " {") && !strings.Contains(v.text, "{0x") && !strings.Contains(v.text, "[80 ") {
			document := oid(t, `{"_id":`+v.text+`,"n":1}`+"\n", "census", "--format", "json", "-")
			if found := strings.Contains(document.out, "1 ObjectId"); found != (isObjectID && !typed) {
				t.Errorf("oid census of the document %q: %+v", v.text, document)
			}
		}

		// Within a line.
		line := "2026-11-20 12:00:00 order " + v.text + " failed\n"
		annotated := oid(t, line, "annotate").out
		notes := strings.Count(annotated, " ago>")
		if want := map[bool]int{true: 1, false: 0}[v.anywhere]; notes != want || v.anywhere && !strings.Contains(annotated, v.id) {
			t.Errorf("oid annotate of %q: %d notes, want %d: %q", line, notes, want, annotated)
		}
		grep := oid(t, line, "census", "--grep", "-")
		if found := strings.Contains(grep.out, "1 ObjectId"); found != (v.anywhere && isObjectID) {
			t.Errorf("oid census --grep of %q: %+v", line, grep)
		}
		for _, args := range [][]string{{"inspect"}, {"inspect", "--grep"}} {
			if got := oid(t, line, args...); v.anywhere && strings.Count("\n"+got.out, shown) != 1 {
				t.Errorf("oid %v of %q: %+v", args, line, got)
			}
		}
	}
}
