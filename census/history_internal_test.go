package census

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// monday is a Monday at midnight.
var monday = uint32(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Unix())

// steady returns a history of weeks with perMinute ids in every minute, and no gaps.
func steady(weeks int, perMinute int32) *history {
	h := newHistory(secondRange{monday, monday + uint32(weeks)*7*secondsPerDay - 1})
	for i := range h.minutes {
		h.minutes[i] = perMinute
	}
	return h
}

// clear removes the ids of minutes.
func (h *history) clear(from, to int) { clear(h.minutes[from:to]) }

// describe returns events as text, with their times in minutes.
func (h *history) describe(events []Event) string {
	var out []string
	for _, e := range events {
		minute := func(t time.Time) int64 { return (t.Unix() - int64(h.from)) / 60 }
		out = append(out, fmt.Sprintf("%s %d-%d %d %s", e.Kind, minute(e.Start), minute(e.End), e.Size, e.Confidence))
	}
	return strings.Join(out, ", ")
}

const week = 7 * 24 * 60 // minutes

// outage returns what is said of the silences of a history.
func (h *history) outage() string {
	events, _ := h.outages(time.UTC)
	return h.describe(events)
}

// TestThresholdsOfSilences holds how long a silence must be, and in how long a history.
func TestThresholdsOfSilences(t *testing.T) {
	for _, test := range []struct {
		name    string
		every   int // minutes
		days    int
		silence int // minutes
		want    string
	}{
		{"a minute", 1, 70, 1, ""},
		{"two minutes: 2 ln(2n) - ln n = 12.9, of 100,798", 1, 70, 2, "outage 51900-51902 2 certain"},
		{"a run of hourly ones", 60, 70, 60, ""},
		{"two runs, 2 ln(2n) - ln n = 8.8, of 1678", 60, 70, 120, "outage 51841-52020 2 likely"},
		{"two runs of 60 daily ones, 5.4", minutesPerDay, 60, 2 * minutesPerDay, "outage 41761-46080 2 possible"},
		{"of 20, 4.3", minutesPerDay, 20, 2 * minutesPerDay, ""},
		{"three of 20", minutesPerDay, 20, 3 * minutesPerDay, "outage 12961-18720 3 likely"},
	} {
		h := newHistory(secondRange{monday, monday + uint32(test.days)*secondsPerDay - 1})
		for i := 0; i < len(h.minutes); i += test.every {
			h.minutes[i] = 1
		}
		from := len(h.minutes) / 2 / test.every * test.every
		if test.every < minutesPerDay {
			from += 25 * 60 // on a Tuesday
		}
		h.clear(from, from+test.silence)
		if got := h.outage(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	for days, want := range map[int]bool{4: false, 5: true} {
		h := newHistory(secondRange{monday, monday + uint32(days)*secondsPerDay - 1})
		for i := range h.minutes {
			h.minutes[i] = 1
		}
		if _, got := h.usual(0); got != want {
			t.Errorf("%d days: the usual rate is known: %v", days, got)
		}
	}
}

// TestRunsAroundMidnight holds that an outage of a daily job is found whose runs come before
// midnight as often as after it: only days from noon to noon have a run each.
func TestRunsAroundMidnight(t *testing.T) {
	const days = 100
	h := newHistory(secondRange{monday, monday + days*secondsPerDay - 1})
	for d := 1; d < days; d++ {
		h.minutes[d*minutesPerDay+20*(d%2)-10] = 1
	}
	if got := h.outage(); got != "" {
		t.Errorf("without an outage: %s", got)
	}
	h.clear(50*minutesPerDay-10, 53*minutesPerDay)
	if got, want := h.outage(), "outage 70571-76330 3 likely"; got != want {
		t.Errorf("without three runs: %s, want %s", got, want)
	}
}

// TestOutageOfAQuietDay holds that the usual ids of a day are those of the same day of other
// weeks, where weeks have a rhythm.
func TestOutageOfAQuietDay(t *testing.T) {
	h := steady(20, 0)
	for i := 0; i < len(h.minutes); i += 10 {
		if day, hour := i/minutesPerDay%7, i/60%24; day < 5 {
			h.minutes[i] = 10
		} else if 10 <= hour && hour < 16 { // a weekend
			h.minutes[i] = 1
		}
	}
	sunday := 10*week + 6*minutesPerDay
	h.clear(sunday, sunday+minutesPerDay)
	if got, want := h.outage(), "outage 108951-110880 36 certain"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDaysOfFewIDs holds that days with hardly an id are no outages if there are three.
func TestDaysOfFewIDs(t *testing.T) {
	for few, want := range map[int]int{2: 2, 3: 0} {
		h := steady(52, 1)
		for k := range few {
			h.clear((100+50*k)*minutesPerDay+3, (101+50*k)*minutesPerDay)
		}
		if events, _ := h.outages(time.UTC); len(events) != want {
			t.Errorf("%d days of three ids: %s, want %d outages", few, h.describe(events), want)
		}
	}
}

// TestBurstsThatRecur holds that bursts on four other days make one no import, if it is up to
// ten times as large.
func TestBurstsThatRecur(t *testing.T) {
	for _, test := range []struct {
		others  int
		largest int32 // beside the ten ids that there always are
		want    int
	}{{4, 10_090, 0}, {4, 10_091, 1}, {3, 10_090, 4}} {
		h := steady(30, 1)
		for k := range test.others {
			h.minutes[20*k*minutesPerDay+100*k] += 1000 // at any time of the day
		}
		h.minutes[100*minutesPerDay] += test.largest
		if got := h.imports(); len(got) != test.want {
			t.Errorf("%d others: %s, want %d imports", test.others, h.describe(got), test.want)
		}
	}
}

// TestImportToTheMinute holds that an import begins and ends to the minute.
func TestImportToTheMinute(t *testing.T) {
	h := steady(10, 1)
	for i := 5*week + 3; i < 5*week+7; i++ {
		h.minutes[i] += 1000
	}
	if got, want := h.describe(h.imports()), "import 50403-50407 4000 likely"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNoOutageAtTheEnds holds that what is before the first id and after the last is no
// outage.
func TestNoOutageAtTheEnds(t *testing.T) {
	h := steady(10, 1)
	h.clear(0, 600)
	h.clear(10*week-600, 10*week)
	if got := h.outage(); got != "" {
		t.Errorf("%s", got)
	}
}

// TestUsualDays holds how many days before and after an hour tell what is usual.
func TestUsualDays(t *testing.T) {
	h := steady(30, 1)
	at := 15 * week
	for k := 1; k <= usualPeriods; k++ {
		for _, d := range []int{-k, k} {
			for i := range 60 {
				h.minutes[at+d*minutesPerDay+i] = int32(k + 1)
			}
		}
	}
	if got, _ := h.usual(at / 60); got != 60*5 {
		t.Errorf("usual %v, want the median of six days on both sides, 300", got)
	}
}

func TestThresholdsOfImports(t *testing.T) {
	for ids, want := range map[int32]string{
		150: "", // ten times the usual ten minutes, and 50
		151: "import 50400-50401 141 likely",
	} {
		h := steady(10, 1)
		h.clear(5*week, 5*week+10)
		h.minutes[5*week] = ids
		if got := h.describe(h.imports()); got != want {
			t.Errorf("%d ids in ten minutes: %s, want %s", ids, got, want)
		}
	}
}

// TestImportsOfAFewDays holds that what is usual must be known for an import.
func TestImportsOfAFewDays(t *testing.T) {
	for days, want := range map[int]string{4: "", 5: "import 0-1 1000 likely"} {
		h := newHistory(secondRange{monday, monday + uint32(days)*secondsPerDay - 1})
		h.minutes[0] = 1000
		if got := h.describe(h.imports()); got != want {
			t.Errorf("%d days: %s, want %s", days, got, want)
		}
	}
}

func TestThresholdsOfDeletions(t *testing.T) {
	const perDay = 24 * 60
	for _, test := range []struct {
		name  string
		days  int
		share float64
		want  string
	}{
		{"not enough", 3, 0.30, ""},
		{"enough", 3, 0.31, "deletion 50400-54720 1920 likely"},
		{"a single day", 1, 0.31, "deletion 50400-51840 640 possible"},
	} {
		h := steady(10, 1)
		for d := range test.days {
			gone := int64(perDay * test.share / (1 - test.share))
			h.gaps[5*7*24+24*d] = gone
		}
		got := h.describe(h.deletions())
		fields, wanted := strings.Fields(got), strings.Fields(test.want)
		if len(fields) == 4 && len(wanted) == 4 {
			fields[2], wanted[2] = "", "" // the size is rounded
		}
		if !slices.Equal(fields, wanted) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	// Two days in between are part of a deletion, and three are not.
	for between, want := range map[int]string{
		2: "deletion 50400-56160 2880 likely", 3: "deletion 50400-51840 1440 possible, deletion 56160-57600 1440 possible",
	} {
		h := steady(10, 1)
		h.gaps[5*7*24], h.gaps[(5*7+1+between)*24] = perDay, perDay
		if got := h.describe(h.deletions()); got != want {
			t.Errorf("%d days in between: %q, want %q", between, got, want)
		}
	}
	// A day with few ids must lack more of them.
	for gaps, want := range map[int64]string{66: "", 67: "deletion 50400-51840 67 possible"} {
		h := steady(10, 0)
		for i := range h.minutes {
			if i%perDay < 100 {
				h.minutes[i] = 1
			}
		}
		h.gaps[5*7*24] = gaps
		if got := h.describe(h.deletions()); got != want {
			t.Errorf("%d of %d ids of a day are gone: %q, want %q", gaps, 100+gaps, got, want)
		}
	}
	// All ids of a day are gone, and the counters went on.
	h := steady(10, 1)
	h.clear(5*week, 5*week+perDay)
	h.gaps[5*7*24] = perDay
	if got := h.outage(); got != "deletion 50400-51840 1440 likely" {
		t.Errorf("nothing of a day: %s", got)
	}
	h.gaps[5*7*24] = perDay / 2
	if got := h.outage(); got != "outage 50400-51840 1440 certain" {
		t.Errorf("nothing of a day, with few gaps: %s", got)
	}
}

// TestLeastDeletion holds how many ids a deletion takes at least.
func TestLeastDeletion(t *testing.T) {
	for created, want := range map[int64]bool{166: false, 167: true} {
		h := steady(10, 0)
		for d := range 70 {
			h.minutes[d*24*60] = 300
		}
		h.minutes[35*24*60], h.gaps[35*24] = int32(created/2), created-created/2
		if got := len(h.deletions()) > 0; got != want {
			t.Errorf("%d ids of a day, half of them missing: a deletion is found: %v", created, got)
		}
	}
}

// TestShortestOutage holds that outages of an hourly job are found that are as long as is
// said, and not those that are shorter, also where single runs are skipped now and then.
func TestShortestOutage(t *testing.T) {
	for _, skipped := range [][]int{nil, {100, 101, 150, 222}, {40, 41, 100, 101, 222, 223}} {
		h := newHistory(secondRange{monday, monday + 14*secondsPerDay - 1})
		for i := 0; i < len(h.minutes); i += 60 {
			if !slices.Contains(skipped, i/60) {
				h.minutes[i] = 1
			}
		}
		events, shortest := h.outages(time.UTC)
		if len(events) > 0 {
			t.Errorf("without %d: %s", skipped, h.describe(events))
		}
		minutes := slices.Clone(h.minutes)
		for from := 23; from < 300; from += 12 {
			for _, hours := range []int{int((shortest[0] - 1) / time.Hour), int((shortest[1] + time.Hour - 1) / time.Hour)} {
				if slices.ContainsFunc(skipped, func(hour int) bool { return from-1 <= hour && hour <= from+hours }) {
					continue // it would be longer
				}
				copy(h.minutes, minutes)
				h.clear(from*60, (from+hours)*60)
				events, _ := h.outages(time.UTC)
				found := slices.ContainsFunc(events, func(e Event) bool { return !e.Start.After(h.minute(from*60)) && e.End.After(h.minute(from*60)) })
				if want := time.Duration(hours)*time.Hour >= shortest[1]; found != want {
					t.Errorf("without %d and %d hours from %d: found: %v, of outages from %v", skipped, hours, from, found, shortest)
				}
			}
		}
	}
}
