package page_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// story is the start page with an id of a process that has worked for a while.
func story(t *testing.T) (*page.Site, page.Frame) {
	t.Helper()
	site := &page.Site{Base: "/oid", Version: "v1.0.0", Registry: true, StoreName: "PostgreSQL", ShowsLocks: true}
	now := time.Now().UTC().Truncate(time.Second)
	at := now.Add(-4 * time.Minute)
	id := objectid.MinAt(at).String()[:8] + "0a1b2c3d009969ff"
	minute := func(i int) time.Time { return at.Add(time.Duration(i-40)*time.Minute/4 - 7*time.Second) }
	cpu := page.Series{Title: "processors", Unit: page.Processors}
	memory := page.Series{Title: "memory", Unit: page.Bytes}
	for i := range 57 {
		cpu.Points = append(cpu.Points, plot.Point{Time: minute(i), Value: 0.55 + 0.3*math.Sin(float64(i)/5) + 0.1*math.Sin(float64(i)*1.7)})
		memory.Points = append(memory.Points, plot.Point{Time: minute(i), Value: float64(180<<20 + i<<19)})
	}
	worker := wire.Process{GPID: "10.0.0.7:8080:1795440527278184:31968", Member: "0a1b2c3d4e5f6071", Name: "worker", Host: "vm-3", State: "alive", Reason: "heartbeat 3s ago"}
	counter := uint64(0x9969ff)
	in := page.Inspected{
		Inspection: wire.Inspection{
			ID: id, Time: &at,
			Readings: []wire.Reading{{Format: "objectid", Variant: "modern", Verdict: "likely", Reason: "its process is registered", Time: &at, Fields: []wire.Field{
				{Name: "seconds", Hex: id[:8]}, {Name: "process", Hex: id[8:18]}, {Name: "counter", Hex: id[18:], Number: &counter},
			}}},
			Trace: &wire.Trace{
				TimedID: wire.TimedID{Time: at}, Verdict: "known", Certain: true, Reason: "its registration and heartbeats cover this second",
				Processes: []wire.Process{worker}, Before: &wire.Sample{Time: at.Add(-7 * time.Second)},
			},
		}, Load: []string{"0.82 processors", "memory 200 MiB", "heap 96 MiB"}, Around: []page.Series{cpu, memory}, Interval: 15 * time.Second,
		Queries: []wire.Query{{For: "ids", Text: id}, {For: "mongosh", About: "a query for the MongoDB shell and for Compass", Text: fmt.Sprintf(`{ _id: { $gte: ObjectId("%v"), $lt: ObjectId("%v") } }`, objectid.MinAt(at), objectid.MinAt(at.Add(time.Second)))}, {For: "python"}, {For: "node"}, {For: "java"}, {For: "go"}, {For: "sql"}},
	}
	overview := &page.Overview{Time: time.Now(), Processes: &page.Counted{Alive: 24, Late: 1}, LocksKnown: true}
	site.Prepare(overview)
	return site, page.Frame{Title: id, Current: "/", Now: overview, Contents: site.Start(&page.Start{Text: id, Cards: []page.Inspected{in}, Now: overview}).Contents}
}

// Every link of a page has the path of the base URL before it.
func TestLinksHaveTheBase(t *testing.T) {
	site, frame := story(t)
	var html strings.Builder
	if err := site.Frame(frame).Render(&html); err != nil {
		t.Fatal(err)
	}
	for _, attribute := range []string{`href="`, `action="`, `src="`} {
		for _, part := range strings.Split(html.String(), " "+attribute)[1:] {
			link, _, _ := strings.Cut(part, `"`)
			if !strings.HasPrefix(link, "/oid/") && !strings.HasPrefix(link, "#") {
				t.Errorf("%s%s: without the base", attribute, link)
			}
		}
	}
}

// TestPagePicture draws the picture in the documents with OID_WRITE_GENERATED=1, as in
// "make picture". Its fonts and its time differ, so it is not compared.
func TestPagePicture(t *testing.T) {
	if os.Getenv("OID_WRITE_GENERATED") != "1" {
		t.Skip("it draws only for make picture")
	}
	site, frame := story(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, a := range page.Assets() {
			if r.URL.Path == site.URL(page.Path(name)) {
				w.Header().Set("Content-Type", a.Type)
				_, _ = w.Write(a.Data)
				return
			}
		}
		if r.URL.Path == "/oid/" {
			_ = site.Frame(frame).Render(w)
		}
	}))
	defer s.Close()
	ctx := testenv.Chromium(t)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate(s.URL+"/oid/"), chromedp.WaitVisible(".ticks text")); err != nil {
		t.Fatal(err)
	}
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("../../../docs/serve.png", data, 0o644); err != nil {
		t.Fatal(err)
	}
}
