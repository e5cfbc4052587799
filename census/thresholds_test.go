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

// reversals returns n falls of the clock by 30 seconds, for as many ids each, all
// along the counters of a process.
func reversals(n, ids int) (out []objectid.ID) {
	for i := range n {
		out = append(append(out, run(100, 100*i, 50)...), run(70, 100*i+50, ids)...)
	}
	return append(out, run(100, 100*n, 50)...)
}

// turns returns runs of two processes that take turns, with counters from 0 and from
// other.
func turns(n, other int) (out []objectid.ID) {
	for i := range n {
		out = append(out, run(200*i, i%2*other+i/2*20, 20)...)
	}
	return out
}

// rounds returns ids of as many processes as given, which take turns all along.
func rounds(processes int) (out []objectid.ID) {
	for i := range 8 * processes {
		out = append(out, run(200*i, i%processes*(wrap/processes)+i/processes*20, 20)...)
	}
	return out
}

// stretches returns n stretches of ids that lie 200,000 counters apart and follow
// each other in time, of which only the last two were created at the same time.
func stretches(n int) (out []objectid.ID) {
	for i := range n {
		at := 100 * min(i, n-2)
		out = append(append(out, run(at, 200_000*i, 100)...), run(at+10, 200_000*i+100, 100)...)
	}
	return out
}

// falls returns ids of a clock that was set backwards n times, with distance counters
// between one id and the next.
func falls(n, distance int) (out []objectid.ID) {
	for i := range 5 * (n + 1) {
		out = append(out, made(0xA1B2C3D4E5, 1000*(n-i/5)+i%5, i*distance))
	}
	return out
}

// TestThresholdsOfAProcess holds the thresholds about one process value on both
// sides: want is what is found about it.
func TestThresholdsOfAProcess(t *testing.T) {
	join := slices.Concat[[]objectid.ID]
	late := func(back, n int) []objectid.ID {
		return join(run(100, 0, 10), run(100-back, 10, n), run(100, 10+n, 10))
	}
	set := func(back int) []objectid.ID {
		return join(run(98, 0, 10), run(99, 10, 10), run(100, 20, 10), run(101-back, 30, 10), run(102-back, 40, 10), run(103-back, 50, 10))
	}
	again := func(distance int) []objectid.ID {
		return join(run(100, 0, 10), run(40, 10, 1), run(100, 11, distance-1), run(40, 10+distance, 1), run(100, 11+distance, 10))
	}
	overlap := func(seconds int) (out []objectid.ID) {
		for s := range seconds + 1 {
			out = append(append(out, run(s, 20*s, 20)...), run(s, half+20*s, 20)...)
		}
		return out
	}
	beside := func(distance int) (out []objectid.ID) {
		for s := range 10 {
			out = append(append(out, run(s, 200*s, 200)...), run(s, 1999+distance+200*s, 200)...)
		}
		return out
	}
	slowTurns := func(seconds int) []objectid.ID {
		return join(run(0, 0, 1), run(seconds, half, 1), run(seconds+100, 1, 1), run(2*seconds+100, half+1, 1))
	}
	for _, test := range []struct {
		name string
		ids  []objectid.ID
		want string
	}{
		{"the widest gap", join(run(0, 0, 1), run(100, 1<<20, 1)), "gaps 1048575, jumps 0"},
		{"a jump", join(run(0, 0, 1), run(100, 1<<20+1, 1)), "gaps 0, jumps 1"},

		{"a rate that is plausible", slowTurns(63), "gaps 0, jumps 3"},
		{"a rate that is not", slowTurns(62), "shared"},

		{"moves that are not big", turns(6, 1<<16+19), "gaps 196605, jumps 2"},
		{"big moves", turns(6, 1<<16+20), "shared"},
		{"returns that may be chance", turns(5, half), "gaps 0, jumps 4"},
		{"returns that are not", turns(6, half), "shared"},
		{"the most ends that are remembered", rounds(9), "shared"},
		{"more", rounds(10), "gaps 0, jumps 79"},

		{"a fall of a second", set(2), "gaps 0, jumps 0"},
		{"a fall of two", set(3), "stepped, gaps 0, jumps 0"},
		{"one id that is late by less than a minute", late(59, 1), "gaps 0, jumps 0"},
		{"by a minute", late(60, 1), "stepped, gaps 0, jumps 0"},
		{"two ids that are late by less", late(30, 2), "stepped, gaps 0, jumps 0"},
		{"stale ids", again(1024), "stepped, gaps 0, jumps 0, 2 examples"},
		{"another step", again(1025), "stepped, gaps 0, jumps 0, 4 examples"},

		{"two processes within one sequence", reversals(8, 8), "shared"},
		{"fewer reversals", reversals(7, 8), "stepped"},
		{"longer falls", reversals(8, 9), "stepped"},
		{"two sequences at a time, for a second", overlap(1), "gaps 0, jumps 1"},
		{"for two", overlap(2), "shared"},
		{"the widest step within a sequence", beside(1088), "stepped"},
		{"a wider one", beside(1089), "shared"},
		{"the most arcs that are compared", stretches(64), "shared"},
		{"more arcs", stretches(65), "stepped"},

		{"the most steps", falls(4, 300), "stepped"},
		{"more steps", falls(5, 300), "gaps 7176, jumps 5"},
		{"the most jumps", falls(8, 1), "stepped, gaps 0, jumps 0"},
		{"more jumps", falls(9, 1), "gaps 0, jumps 9"},
		{"the fewest ids", join(run(1000, 0, 4), run(0, 4, 4)), "stepped, gaps 0, jumps 0"},
		{"fewer ids", join(run(1000, 0, 4), run(0, 4, 3)), "gaps 0, jumps 1"},
	} {
		r := reportOf(t, test.ids, nil, nil)
		p := r.TopProcesses[0]
		got := fmt.Sprintf("gaps %d, jumps %d", p.Gaps, p.Jumps)
		if p.ClockStepped {
			got = "stepped, " + got
		}
		if p.Shared {
			got = "shared, " + got
		}
		for _, f := range r.Findings {
			if f.Kind == census.KindClockStep {
				got += fmt.Sprintf(", %d examples", len(f.Examples))
			}
		}
		if len(r.TopProcesses) != 1 || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %d processes, %s, want %s", test.name, len(r.TopProcesses), got, test.want)
		}
	}
}

// TestThresholdOfMachines counts the processes of a census of which two have the
// same machine bytes.
func TestThresholdOfMachines(t *testing.T) {
	for processes, want := range map[int]objectid.Layout{2048: objectid.Classic, 2049: objectid.Modern} {
		ids := []objectid.ID{made(1<<16, 0, 0), made(1<<16, 0, 1), made(1<<16|9, 0, 0)}
		for i := 2; i < processes; i++ {
			ids = append(ids, made(uint64(i)<<16, 0, 0))
		}
		if r := reportOf(t, ids, nil, &census.ReportOptions{Top: 1}); r.Processes != int64(processes) || r.TopProcesses[0].Layout != want {
			t.Errorf("%d processes: %v, want %v", r.Processes, r.TopProcesses[0].Layout, want)
		}
	}
}

// TestThresholdOfBorrowing counts ids of a generator that borrows the process value
// above its own every 512 seconds.
func TestThresholdOfBorrowing(t *testing.T) {
	const own, step = 0xA1B2C3D400, 1 << 15
	for times, processes := range map[int]int64{256: 1, 257: 2} {
		var ids []objectid.ID
		for s := 1; s < wrap/step*times+100; s++ {
			if s*step%wrap != 0 {
				ids = append(ids, made(own, s, s*step))
				continue
			}
			ids = append(ids, made(own+1, s, 0), made(own, s+1, 1))
		}
		if r := reportOf(t, ids, nil, nil); r.Processes != processes || len(r.Findings) > 0 {
			t.Errorf("%d overflows: %d processes, want %d: %+v", times, r.Processes, processes, r.Findings)
		}
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
	for hours, step := range map[int]census.Step{47: census.Hour, 48: census.Day} {
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
		if _, err := c.Report(&census.ReportOptions{By: census.Minute}); !errors.Is(err, want) {
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
