package main

import (
	"encoding/base64"
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/testenv"
)

// pictures are the pictures of the page and their sizes: the icons of an installed page, and
// what is shown beside a link to it.
var pictures = map[string][2]int64{"icon-192.png": {192, 192}, "icon-512.png": {512, 512}, "og.png": {1200, 630}}

// TestPictures draws the pictures with OID_WRITE_GENERATED=1, as in "make picture". Fonts
// differ, so only their sizes are compared.
func TestPictures(t *testing.T) {
	for name, size := range pictures {
		path := "../static/" + name
		if os.Getenv("OID_WRITE_GENERATED") == "1" {
			draw(t, path, size, pictureOf(name))
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if c, err := png.DecodeConfig(f); err != nil || c.Width != int(size[0]) || c.Height != int(size[1]) {
			t.Errorf("%s is %d by %d, %v, want %d", name, c.Width, c.Height, err, size)
		}
	}
}

// pictureOf returns the HTML of a picture.
func pictureOf(name string) string {
	if strings.HasPrefix(name, "icon-") { // systems cut it into their own shape
		icon := strings.Replace(string(page.Assets()["icon.svg"].Data), ` rx="7"`, "", 1)
		return "<style>body { margin: 0 } svg { display: block; width: 100vw; height: 100vh; background: #1d2126 }</style>" + icon
	}
	return `<style>` + string(page.Assets()["page.css"].Data) + `
body { background: #14171b; color: #e4e7ea; padding: 90px 70px; font-size: 34px; color-scheme: dark }
.strip { font: 600 58px "DejaVu Sans Mono", monospace; margin: 34px 0 26px }
.strip span { padding: 4px 10px } .brand { display: block; font-size: 60px; line-height: 1 }
.f-seconds.f-seconds.f-seconds { background: #1d3247; color: #9ccbfa } .f-process.f-process.f-process { background: #3a2a14; color: #f3bf7a }
.f-counter.f-counter.f-counter { background: #19331f; color: #93d6ab } .time { font-size: 54px; font-weight: 600 } .quiet-line { color: #9aa4ae; margin-top: 44px }
</style><span class="brand"><span style="color: #9ccbfa">o</span><span style="color: #f3bf7a">i</span><span style="color: #93d6ab">d</span></span>
<div class="strip"><span class="f-seconds">507f1f77</span><span class="f-process">bcf86cd799</span><span class="f-counter">439011</span></div>
<div class="time">2012-10-17 21:13:27 UTC</div>
<div class="quiet-line">MongoDB ObjectId to timestamp converter and generator.<br>Everything stays in your browser.</div>`
}

func draw(t *testing.T, path string, size [2]int64, html string) {
	t.Helper()
	ctx := testenv.Chromium(t)
	url := "data:text/html;base64," + base64.StdEncoding.EncodeToString([]byte("<!doctype html><meta charset=utf-8>"+html))
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", path, err))
	}
}
