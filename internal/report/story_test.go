package report_test

import (
	"context"
	"encoding/binary"
	"encoding/xml"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/report"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// storyNow is the reference time of the story.
var storyNow = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// A story is a simulated collection of ten years.
type story struct {
	*rand.Rand
	ids []objectid.ID
}

// program is a process of the story.
type program struct {
	value   [5]byte
	counter uint32
	ahead   time.Duration // of its clock
}

func (s *story) start() *program {
	p := &program{counter: s.Uint32()}
	for i := range p.value {
		p.value[i] = byte(s.Uint32())
	}
	return p
}

func (s *story) create(p *program, t time.Time) {
	p.counter++
	var id objectid.ID
	binary.BigEndian.PutUint32(id[:], uint32(t.Add(p.ahead).Unix()))
	copy(id[4:], p.value[:])
	id[9], id[10], id[11] = byte(p.counter>>16), byte(p.counter>>8), byte(p.counter)
	s.ids = append(s.ids, id)
}

func date(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

// The planted events.
var (
	outageFrom, outageTo   = date("2020-03-11 09:00"), date("2020-03-11 15:00")
	deletedFrom, deletedTo = date("2018-06-01 00:00"), date("2018-09-01 00:00")
	clockStep              = date("2021-04-12 14:00")
	forkFrom, forkTo       = date("2024-11-03 00:00"), date("2025-01-19 00:00")
	imported               = date("2022-02-14 21:00")
)

// playStory plays ten years: four processes at first and twelve at the end, deployed
// every month, more ids by day than by night and more every year.
func playStory() *story {
	s := &story{Rand: rand.New(rand.NewPCG(10, 10))}
	start := date("2016-11-21 00:00")
	var fleet []*program
	stepping := s.start() // outlives the deployments
	deployed := time.Time{}
	var forked *program
	for hour := start; hour.Before(storyNow); hour = hour.Add(time.Hour) {
		years := hour.Sub(start).Hours() / 24 / 365
		if day := hour.Day(); day == 5 && hour.Hour() == 10 && hour.Sub(deployed) > 48*time.Hour {
			deployed = hour
			fleet = nil
		}
		for len(fleet) < 4+int(years*0.8) {
			fleet = append(fleet, s.start())
		}
		rate := 0.6 * math.Pow(1.2, years) * (1.2 - math.Cos(2*math.Pi*float64(hour.Hour())/24)) // an hour and a process
		if w := hour.Weekday(); w == time.Saturday || w == time.Sunday {
			rate *= 0.4
		}
		if !hour.Before(outageFrom) && hour.Before(outageTo) {
			continue
		}
		if hour.Equal(clockStep) {
			stepping.ahead = -time.Hour
		}
		writers := append(slices.Clone(fleet), stepping)
		if !hour.Before(forkFrom) && hour.Before(forkTo) {
			if forked == nil {
				copied := *stepping
				forked = &copied
				forked.value = [5]byte{0x9f, 0xff, 0x3c, 0xbe, 0x2d}
				other := *forked
				other.counter += 5_000_000
				writers = append(writers, forked, &other)
				fleet = append(fleet, forked, &other)
			}
		} else if forked != nil && hour.Equal(forkTo) {
			fleet, forked = nil, nil
		}
		for _, p := range writers {
			rate := rate
			if p == stepping {
				rate *= 10
			}
			for t := hour.Add(time.Duration(s.ExpFloat64() / rate * float64(time.Hour))); t.Before(hour.Add(time.Hour)); t = t.Add(time.Duration(s.ExpFloat64() / rate * float64(time.Hour))) {
				before := len(s.ids)
				s.create(p, t)
				if !hour.Before(deletedFrom) && hour.Before(deletedTo) && s.Float64() < 0.61 {
					s.ids = s.ids[:before]
				}
			}
		}
		if hour.Equal(imported) {
			importer := s.start()
			for i := range 41_200 {
				s.create(importer, hour.Add(time.Duration(i)*9*time.Minute/41_200))
			}
		}
	}
	slices.SortFunc(s.ids, objectid.ID.Compare) // as mongodump reads them
	return s
}

// storyReport takes the census of the story.
func storyReport(t *testing.T) *census.Report {
	t.Helper()
	r, err := newStoryReport()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var newStoryReport = sync.OnceValues(func() (*census.Report, error) {
	s := playStory()
	var text strings.Builder
	for _, id := range s.ids {
		text.WriteString(id.String() + "\n")
	}
	if path := os.Getenv("OID_STORY"); path != "" { // to look at with oid census
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			return nil, err
		}
	}
	c := census.New(&census.Options{Now: storyNow})
	if err := c.ReadCollection(context.Background(), "orders.bson", "shop.orders", strings.NewReader(text.String())); err != nil {
		return nil, err
	}
	return c.Report(nil)
})

// TestStory holds that each planted event is in the report, where it was, as big as it
// was, and that nothing else is.
func TestStory(t *testing.T) {
	testenv.WithoutRace(t)
	r := storyReport(t)
	var got []string
	for _, e := range r.Events {
		got = append(got, string(e.Kind))
		near := func(a, b time.Time, d time.Duration) bool { return a.Sub(b).Abs() <= d }
		ok := true
		switch e.Kind {
		case census.KindDeletion:
			ok = near(e.Start, deletedFrom, 48*time.Hour) && near(e.End, deletedTo, 48*time.Hour) && math.Abs(e.Share-0.61) < 0.05
		case census.KindOutage:
			ok = near(e.Start, outageFrom, 30*time.Minute) && near(e.End, outageTo, 30*time.Minute)
		case census.KindClockStep:
			ok = near(e.Start, clockStep.Add(-time.Hour), time.Hour) && e.Size > 1800 && e.Size <= 3600
		case census.KindImport:
			ok = near(e.Start, imported, time.Minute) && near(e.End, imported.Add(9*time.Minute), 2*time.Minute) && math.Abs(float64(e.Size)-41_200) < 100
		case census.KindSharedValue:
			ok = near(e.Start, forkFrom, 24*time.Hour) && e.Process == "9fff3cbe2d"
		}
		if !ok {
			t.Errorf("%+v", e)
		}
	}
	if want := "deletion outage clock-step import shared-process-value"; strings.Join(got, " ") != want {
		t.Errorf("events %v, want %s", got, want)
	}
}

// TestStoryIsReadable holds that each planted event is in words in the text and on the
// page, which has no script and needs no other file.
func TestStoryIsReadable(t *testing.T) {
	testenv.WithoutRace(t)
	r := storyReport(t)
	var text, page, drawing strings.Builder
	for _, err := range []error{
		report.WriteText(&text, r, 0), report.WriteHTML(&page, r), report.WritePlot(&drawing, r),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, label := range []string{"deleted 61 %", "outage 6h", "import 41,", "several at once", "clock -"} {
		for name, out := range map[string]string{"text": text.String(), "page": page.String(), "plot": drawing.String()} {
			if !strings.Contains(out, label) {
				t.Errorf("%s: no %q", name, label)
			}
		}
	}
	for _, sentence := range []string{
		"an outage shorter than about", "9fff3cbe2d",
	} {
		if !strings.Contains(text.String(), sentence) || !strings.Contains(page.String(), sentence) {
			t.Errorf("no %q", sentence)
		}
	}
	for line := range strings.SplitSeq(text.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	for _, part := range []string{"narrow-only", "wide-only", `class="faulty"`, "@media print", "missing"} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("the page has no %q", part)
		}
	}
	if strings.Contains(page.String(), "<script") || strings.Contains(page.String(), "http") {
		t.Error("the page needs something else")
	}
	if !strings.HasPrefix(drawing.String(), "<svg ") || xml.Unmarshal([]byte(drawing.String()), new(struct{})) != nil {
		t.Errorf("plot: %.200s", drawing.String())
	}
}
