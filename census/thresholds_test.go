package census_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

const (
	origin = 1_700_000_000 // the second 0 of these tests
	wrap   = 1 << 24       // counters of a process
	half   = wrap / 2
)

// made returns an id of the process value with the given second and counter.
func made(value uint64, second, counter int) (id objectid.ID) {
	binary.BigEndian.PutUint64(id[4:], value<<24|uint64(counter%wrap))
	binary.BigEndian.PutUint32(id[:4], uint32(origin+second))
	return id
}

// run returns n ids of one second whose counters follow each other.
func run(second, counter, n int) (ids []objectid.ID) {
	for i := range n {
		ids = append(ids, made(0xA1B2C3D4E5, second, counter+i))
	}
	return ids
}

// turns returns runs of two processes that take turns, with counters from 0 and from
// other.
func turns(n, other int) (out []objectid.ID) {
	for i := range n {
		out = append(out, run(200*i, i%2*other+i/2*20, 20)...)
	}
	return out
}

// steady returns n seconds of ids, each of so many, whose counters follow each other.
func steady(second, counter, n, ids int) (out []objectid.ID) {
	for i := range n {
		out = append(out, run(second+i, counter+ids*i, ids)...)
	}
	return out
}

// TestThresholdsOfAProcess holds the thresholds about one process value on both
// sides: want is what is found about it.
func TestThresholdsOfAProcess(t *testing.T) {
	join := slices.Concat[[]objectid.ID]
	late := func(back, n int) []objectid.ID {
		return join(steady(0, 0, 100, 10), run(100-back, 1000, n), steady(100, 1000+n, 100, 10))
	}
	set := func(back, ids int) []objectid.ID {
		return join(steady(0, 0, 60, ids), steady(60-back, 60*ids, 120, ids))
	}
	overlap := func(seconds int) (out []objectid.ID) {
		for s := range seconds + 1 {
			out = append(append(out, run(s, 20*s, 20)...), run(s, half+20*s, 20)...)
		}
		return out
	}
	// Ids at a steady pace, then, after a while, of higher counters.
	onward := func(pace, seconds, distance int) []objectid.ID {
		return join(steady(0, 0, 10, pace), run(9+seconds, 10*pace-1+distance, pace))
	}
	// Ids that come first in the source, or last, and whose counters are below those
	// of earlier ids.
	ahead := func(distance int, first bool) []objectid.ID {
		a, b := steady(9000, 0, 100, 1), steady(0, 99+distance, 100, 1)
		if first {
			return join(a, b)
		}
		return join(b, a)
	}
	// The same counters a second later, for some seconds.
	twins := func(seconds int) (out []objectid.ID) {
		for s := range 10 {
			out = append(out, run(s, 10*s, 10)...)
			if s <= seconds {
				out = append(out, run(s+1, 10*s, 2)...)
			}
		}
		return out
	}
	// Runs of the same 20 counters, hours apart, of one that begins at a distance.
	again := func(distance int) []objectid.ID {
		return join(steady(0, 0, 200, 10), steady(50_000, distance, 40, 10))
	}
	sparse := func(step, n int) (out []objectid.ID) {
		for i := range n {
			out = append(out, made(0xA1B2C3D4E5, 10*i, step*i))
		}
		return out
	}
	// Threads reserve blocks of counters, and use them up one after another.
	blocks := func(threads, size, n int) (out []objectid.ID) {
		for block := range n {
			for i := range size {
				out = append(out, made(0xA1B2C3D4E5, block/threads*size+i+7*(block%threads), block*size+i))
			}
		}
		return out
	}
	// Four sequences of counters that take turns, so far apart.
	four := func(apart int) (out []objectid.ID) {
		for i := range 80 {
			out = append(out, run(10*i, i%4*apart+i/4*20, 20)...)
		}
		return out
	}
	// Every second some counters that do not count.
	disorder := func(n, apart int) (out []objectid.ID) {
		for i := range n {
			out = append(out, made(0xA1B2C3D4E5, i, 7_654_321*i), made(0xA1B2C3D4E5, i, 7_654_321*i+apart))
		}
		return out
	}
	// Three seconds of n ids, whose counters cover n-1 steps after the first.
	racing := func(n, step int) (out []objectid.ID) {
		for i := range 3 * n {
			out = append(out, made(0xA1B2C3D4E5, i/n, i*step))
		}
		return out
	}
	for _, test := range []struct {
		name string
		ids  []objectid.ID
		want string
	}{
		{"the widest gap", join(run(0, 0, 1), run(100, 1<<20, 1)), "few-ids, gaps 1048575, jumps 0"},
		{"a jump", join(run(0, 0, 1), run(100, 1<<20+1, 1)), "few-ids, gaps 0, jumps 1"},
		{"the most sparse ids", sparse(1<<14, 40), "gaps 638937, jumps 0"},
		{"more sparse ids", sparse(1<<14+1, 40), "few-ids, gaps 638976, jumps 0"},

		{"the widest step of a line", onward(1, 1, 128), "gaps 127, jumps 0"},
		{"a restart", onward(1, 1, 129), "gaps 0, jumps 1"},
		{"the widest step at its pace", onward(100, 1, 1600), "gaps 1599, jumps 0"},
		{"a wider one", onward(100, 1, 1601), "gaps 0, jumps 1"},
		{"the widest gap between lines", onward(100, 10_000, 1<<20), "gaps 1048575, jumps 0"},
		{"a restart behind it", onward(100, 10_000, 1<<20+1), "gaps 0, jumps 1"},

		{"returns that may be chance", turns(4, half), "weak-evidence, gaps 0, jumps 1"},
		{"returns that are not", turns(5, half), "shared"},
		{"two sequences at a time, for two seconds", overlap(2), "weak-evidence, gaps 0, jumps 1"},
		{"for three", overlap(3), "shared"},
		{"as near as blocks", turns(9, 1<<16), "blocks"},
		{"further apart", turns(9, 1<<16+400), "shared"},

		{"four as near as large blocks", four(1 << 17), "blocks"},
		{"four further apart", four(1 << 22), "shared"},

		{"a step that chance does not explain", ahead(1024, false), "stepped, gaps 1023, jumps 0"},
		{"one that it may", ahead(1025, false), "weak-evidence, gaps 1024, jumps 0"},
		{"with the order of the source", ahead(51_200, true), "stepped"},
		{"that is not enough", ahead(51_201, true), "weak-evidence"},

		{"back by a second", set(2, 40), "gaps 0, jumps 0"},
		{"back by two", set(3, 40), "stepped, gaps 0, jumps 0"},
		{"of few ids", set(3, 4), "gaps 0, jumps 0"},
		{"one id that is late by less than a minute", late(60, 1), "gaps 0, jumps 0"},
		{"by a minute", late(61, 1), "stepped, gaps 0, jumps 0"},
		{"ids of one second that are late by less", late(30, 16), "gaps 0, jumps 0"},

		{"blocks of counters", blocks(4, 100, 24), "blocks"},
		{"the same counters for four seconds", twins(4), "shared"},
		{"for three", twins(3), "gaps 0, jumps 0"},
		{"counters again after a while", again(1000), "weak-evidence"},
		{"from where they began", again(64), "resumed"},
		{"one id in each run, with the same counter", sparse(0, 20), "resumed"},
		{"counters that do not count", disorder(8, 1<<21), "no-sequence"},
		{"too near to each other to tell", disorder(8, 1<<21-1), "few-ids"},
		{"half of all counters in each second", racing(1025, 1<<13), "gaps 25179134, jumps 0"},
		{"more than half", racing(1026, 1<<13), "no-sequence"},
	} {
		r := reportOf(t, test.ids, nil, nil)
		p := r.TopProcesses[0]
		got := fmt.Sprintf("gaps %d, jumps %d", p.Gaps, p.Jumps)
		for _, f := range []struct {
			found bool
			text  string
		}{{p.Has(census.KindClockStep), "stepped, "}, {p.Has(census.KindSharedValue), "shared, "}, {p.Has(census.KindResumed), "resumed, "}, {p.Has(census.KindNoSequence), "no-sequence, "}} {
			if f.found {
				got = f.text + got
			}
		}
		if p.Doubt != "" {
			got = string(p.Doubt) + ", " + got
		}
		if len(r.TopProcesses) != 1 || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %d processes, %s, want %s", test.name, len(r.TopProcesses), got, test.want)
		}
	}
}

// TestThresholdOfBorrowing counts ids of a generator that borrows the process value
// above its own every 32 seconds.
func TestThresholdOfBorrowing(t *testing.T) {
	const own, step = 0xA1B2C3D400, 1 << 19
	for times, processes := range map[int]int64{4096: 1, 4097: 2} {
		var ids []objectid.ID
		for s := 1; s < wrap/step*times+16; s++ {
			if s*step%wrap != 0 {
				ids = append(ids, made(own, s, s*step))
				continue
			}
			ids = append(ids, made(own+1, s, 0), made(own, s+1, 1))
		}
		if r := reportOf(t, ids, nil, nil); r.Processes != processes {
			t.Errorf("%d overflows: %d processes, want %d: %+v", times, r.Processes, processes, r.TopProcesses)
		}
	}
}

// TestBorrowing counts ids of generators that overflow after very many ids.
func TestBorrowing(t *testing.T) {
	const step = 128
	// span returns ids of a second with the counters between two multiples of a million.
	span := func(borrowed uint64, second, from, to int) (ids []objectid.ID) {
		for c := from << 20; c < to<<20; c += step {
			ids = append(ids, made(0xA1B2C3D400+borrowed, second, c))
		}
		return ids
	}
	for name, test := range map[string]struct {
		ids       []objectid.ID
		processes int64
	}{
		"more than a gap, twice":  {slices.Concat(span(0, 1, 12, 16), span(1, 1, 0, 8), span(0, 2, 8, 16), span(1, 2, 0, 4), span(0, 3, 4, 9)), 1},
		"at the end":              {slices.Concat(span(0, 1, 12, 16), span(1, 1, 0, 8), span(0, 2, 8, 16), span(1, 2, 0, 4)), 1},
		"two values at once":      {slices.Concat(span(0, 1, 12, 16), span(1, 1, 0, 16), span(2, 1, 0, 4), span(0, 2, 4, 9)), 1},
		"a full turn":             {slices.Concat(span(0, 1, 12, 16), span(1, 1, 0, 16), span(0, 2, 0, 9)), 1},
		"not from the end on":     {slices.Concat(span(0, 1, 10, 14), span(1, 1, 0, 8), span(0, 2, 8, 16)), 2},
		"not to where it goes on": {slices.Concat(span(0, 1, 12, 16), span(1, 1, 0, 8), span(0, 2, 10, 16)), 2},
	} {
		r := reportOf(t, test.ids, nil, nil)
		if p := r.TopProcesses[0]; r.Processes != test.processes || len(r.Findings) > 0 || test.processes == 1 && (p.Jumps != 0 || p.Gaps != (step-1)*(p.IDs-1)) {
			t.Errorf("%s: %d processes, want %d; findings %v; %+v", name, r.Processes, test.processes, r.Findings, p)
		}
	}
}

// TestSampleOfBorrowing counts each thousandth id of a generator that overflows in each
// second: its breaks are where it borrows, and no fault.
func TestSampleOfBorrowing(t *testing.T) {
	var ids []objectid.ID
	for i := range 200_000 {
		const second = 10_000_000
		n := i * 1000
		v, c := n/second, 9_000_000+n%second // of each second
		base := v * second % wrap
		ids = append(ids, made(0xA1B2C3D400+uint64((base+c)/wrap-(base+9_000_000)/wrap), v, base+c))
	}
	r := reportOf(t, ids, nil, nil)
	// Where an overflow ends beyond the last one, a step is not counted to the counter.
	if p := r.TopProcesses[0]; r.Processes != 1 || len(r.Findings) > 0 || p.Jumps != 0 || p.Gaps > 999*p.IDs || p.Gaps < 999*(p.IDs-20) {
		t.Errorf("%d processes, findings %+v, %d jumps, %d gaps", r.Processes, r.Findings, p.Jumps, p.Gaps)
	}
}

// TestThresholdsOfTheTimeline counts ids of one or two days, and one that is far
// from them.
func TestThresholdsOfTheTimeline(t *testing.T) {
	const day = 24 * 60 * 60
	for _, test := range []struct{ ids, far, beyond int }{
		{999, 7, 1}, {998, 7, 0}, {999, 6, 0},
	} {
		for _, sign := range []int{1, -1} {
			var ids []objectid.ID
			for i := range test.ids {
				ids = append(ids, made(1<<16, sign*(i%2)*day, i))
			}
			ids = append(ids, made(1<<16, sign*test.far*day, test.ids))
			if r := reportOf(t, ids, nil, nil); r.Timeline.Beyond != int64(test.beyond) {
				t.Errorf("%d ids, one %d days apart: %d outside the timeline, want %d", test.ids+1, sign*test.far, r.Timeline.Beyond, test.beyond)
			}
		}
	}
	for hours, step := range map[int]census.Interval{639: census.IntervalHour, 640: census.IntervalDay} {
		ids := []objectid.ID{made(1<<16, 0, 0), made(1<<16, hours*60*60, 1)}
		if r := reportOf(t, ids, nil, nil); r.Timeline.By != step {
			t.Errorf("ids of %d hours: a timeline by %v, want %v", hours, r.Timeline.By, step)
		}
	}
	for minutes, want := range map[int]error{1<<20 - 1: nil, 1 << 20: census.ErrTooFine} {
		c := census.New(&census.Options{Now: time.Unix(origin+1000*day, 0)})
		list := fmt.Sprintf("%v\n%v\n", made(1<<16, 0, 0), made(1<<16, 60*minutes, 1))
		if err := c.Read(t.Context(), "list", strings.NewReader(list)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Report(&census.ReportOptions{By: census.IntervalMinute}); !errors.Is(err, want) {
			t.Errorf("ids of %d minutes, by minute: %v, want %v", minutes, err, want)
		}
	}
}

// TestWhatAReportShowsAtMost counts more ids from the future, and more broken lines,
// than are listed.
func TestWhatAReportShowsAtMost(t *testing.T) {
	c := census.New(&census.Options{Now: time.Unix(origin-1000, 0), Format: "list"})
	var text strings.Builder
	for i := range 7 {
		text.WriteString(made(1<<16, i, i).String() + "\n")
	}
	text.WriteString(strings.Repeat("broken\n", 11))
	if err := c.Read(t.Context(), "list", strings.NewReader(text.String())); err != nil {
		t.Fatal(err)
	}
	r, err := c.Report(nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Sources[0]; s.Broken != 11 || len(s.Problems) != 10 {
		t.Errorf("%d broken lines, %d are listed", s.Broken, len(s.Problems))
	}
	if len(r.Findings) != 1 || r.Findings[0].Count != 7 || len(r.Findings[0].Examples) != 6 {
		t.Errorf("findings %+v", r.Findings)
	}
}
