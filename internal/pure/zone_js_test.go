package pure

import (
	"fmt"
	"syscall/js"
	"testing"
	"time"
	_ "time/tzdata" // the zones to compare with
)

// hard are zones with offsets in seconds, of halves and quarters of an hour, with summer times of
// a week, or with rules that follow another calendar.
var hard = map[string]bool{
	"Africa/Monrovia": true, "Africa/Casablanca": true, "Africa/Cairo": true, "America/Recife": true, "America/St_Johns": true,
	"Asia/Kathmandu": true, "Asia/Gaza": true, "Australia/Lord_Howe": true, "Pacific/Apia": true, "Europe/Berlin": true,
}

// Every zone that the browser knows has the offsets of the browser, and of package time/tzdata, at
// each change, a second before it, and halfway between two changes.
func TestZonesOfTheBrowser(t *testing.T) {
	names := js.Global().Get("Intl").Call("supportedValuesOf", "timeZone")
	compared, start := 0, time.Now()
	var others []string
	for i := range names.Length() {
		name := names.Index(i).String()
		if testing.Short() && i%20 > 0 && !hard[name] {
			continue
		}
		want, err := time.LoadLocation(name)
		if err != nil {
			t.Logf("%s is not in time/tzdata", name)
			continue
		}
		got, err := Zone(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		offset, isSame := browserOffset(name), true
		compare := func(at time.Time) {
			if at.Unix() < 0 || at.Unix() >= 1<<32 {
				return
			}
			_, g := at.In(got).Zone()
			if b := offset(int(at.Unix())); g != b {
				t.Errorf("%s at %s: %d seconds from UTC, want %d", name, at.UTC(), g, b)
			}
			if _, w := at.In(want).Zone(); g != w && isSame {
				isSame = false
				others = append(others, fmt.Sprintf("%s at %s: %d seconds from UTC, want %d", name, at.UTC(), g, w))
			}
		}
		for at := time.Unix(0, 0); at.Unix() < 1<<32; {
			_, end := at.In(want).ZoneBounds()
			switch {
			case end.IsZero():
				end = time.Unix(1<<32, 0)
			case !end.After(at): // ZoneBounds of Go 1.26 does so for rules such as 24:00 on the last Thursday
				end = at.Add(time.Hour)
			}
			compare(at)
			compare(at.Add(end.Sub(at) / 2))
			compare(end.Add(-time.Second))
			at = end
		}
		compared++
	}
	t.Logf("%d zones in %v", compared, time.Since(start))
	if compared < 25 || compared < 400 && !testing.Short() {
		t.Errorf("only %d zones were compared", compared)
	}
	// Countries change their rules, and the past is corrected, so two databases are not quite the same.
	if len(others) > 10 {
		t.Errorf("%d zones differ from time/tzdata: %q", len(others), others)
	}
	for _, unknown := range []string{"Nowhere/City", "local", "Europe", "1"} {
		if l, err := Zone(unknown); err == nil || l != time.UTC {
			t.Errorf("%s: %v, %v", unknown, l, err)
		}
	}
}
