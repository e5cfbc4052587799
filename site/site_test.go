package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
)

// The folder that "make site" builds works from a web server that only serves files, and
// after it was loaded without any server.
func TestSite(t *testing.T) {
	ctx := testenv.Chromium(t)
	folder := t.TempDir()
	build := exec.Command("make", "-C", "..", "site", "SITE="+folder)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make site: %v\n%s", err, out)
	}
	program, err := os.Stat(filepath.Join(folder, "oid.wasm.gz"))
	if err != nil || program.Size() > 1800<<10 {
		t.Fatalf("the program takes %d KiB, %v", program.Size()>>10, err)
	}
	files := httptest.NewServer(http.StripPrefix("/tools/ids/", http.FileServer(http.Dir(folder))))
	defer files.Close()
	if err := chromedp.Do(ctx, chromedp.Navigate(files.URL+"/tools/ids/#id=507f1f77bcf86cd799439011")); err != nil {
		t.Fatal(err)
	}
	eval := func(expression string) string {
		t.Helper()
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		return text
	}
	await := func(element, want string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			text := eval(`document.querySelector('` + element + `')?.textContent ?? ''`)
			if strings.Contains(text, want) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s says %q, want %q", element, text, want)
			}
		}
	}
	await("#found", "2012-10-17 21:13:27")
	files.Close()
	fill := func(id, value string) {
		t.Helper()
		eval(`{const e = document.getElementById('` + id + `'); e.value = '` + value + `'; e.dispatchEvent(new Event('input', {bubbles: true})); ''}`)
	}
	fill("text", `c232ab00-9414-11ec-b3c8-9f6bdeced846 ObjectId("507f1f77bcf86cd799439011") nonsense-id`)
	await("#found", "uuid v1")
	await("#found", "objectid java")
	fill("from", "2026-11-01")
	fill("to", "2026-12-01")
	await("#queries", `{"_id": {"$gte": ObjectId("6ae681000000000000000000"), "$lt": ObjectId("6b0e0e000000000000000000")}}`)
	if n := eval(`String([...document.querySelectorAll('#queries pre')].filter((e) => e.checkVisibility()).length)`); n != "1" {
		t.Errorf("%s queries are shown, want one and a choice", n)
	}
	fill("from", "soon")
	await("#queries .problem", "want RFC 3339")
	fill("processes", "1000000")
	await("#chance", "1 in ")
	if text := eval(`document.querySelector('#chance').textContent`); strings.Contains(text, "e+") {
		t.Errorf("the chance is not written for people: %s", text)
	}
	await("#range", "If From and To are empty, the range is the last 24 hours")
	fill("processes", "0.5")
	await("#chance .problem", "want a whole number")
	if wide := eval(`String(document.documentElement.scrollWidth - innerWidth)`); strings.TrimLeft(wide, "-0") != "" && !strings.HasPrefix(wide, "-") {
		t.Errorf("the page is %s pixels wider than the screen", wide)
	}
	if folder := os.Getenv("OID_SCREENSHOTS"); folder != "" {
		data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "site.png"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The numbers are those of the command.
func TestAnswers(t *testing.T) {
	if got := oddsOf("1000", "500", "365d", "modern"); got["error"] != nil || !strings.Contains(got["value"].(string), "1 in ") {
		t.Errorf("odds: %v", got)
	}
	for _, bad := range [][4]string{{"0", "1", "1d", "modern"}, {"x", "1", "1d", "modern"}, {"1", "0", "1d", "modern"}, {"1", "NaN", "1d", "driver"}, {"1", "1", "soon", "classic"}, {"1", "1", "0s", "classic"}} {
		if got := oddsOf(bad[0], bad[1], bad[2], bad[3]); got["error"] == nil {
			t.Errorf("odds of %q: %v, want an error", bad, got)
		}
	}
	got := inspectText(strings.Repeat("507f1f77bcf86cd799439011\n", maxIDs+1))
	if len(got["ids"].([]any)) != maxIDs || got["more"] != 1 {
		t.Errorf("%d ids, %v more", len(got["ids"].([]any)), got["more"])
	}
	if got := inspectText("zzz"); len(got["bad"].([]any)) != 1 {
		t.Errorf("no id: %v", got)
	}
}
