package census_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// reportOf counts a list of ids.
func reportOf(t *testing.T, ids []objectid.ID, o *census.Options, v *census.ReportOptions) *census.Report {
	t.Helper()
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(id.String() + "\n")
	}
	c := census.New(o)
	if text.Len() > 0 {
		if err := c.Read(t.Context(), "list", strings.NewReader(text.String())); err != nil {
			t.Fatal(err)
		}
	}
	r, err := c.Report(v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check holds a report against the slow census of the same ids.
func check(t *testing.T, ids []objectid.ID, now time.Time) *census.Report {
	t.Helper()
	zone, err := time.LoadLocation("America/St_Johns")
	if err != nil {
		zone = time.FixedZone("here", -3*3600-1800)
	}
	r := reportOf(t, ids, &census.Options{Now: now}, &census.ReportOptions{By: census.IntervalDay, Zone: zone, Top: -1})
	want := countSlowly(ids, now, zone)
	beyond := want.beyond
	if len(want.days) == 0 {
		beyond = 0 // without a plausible id the timeline shows the others
	}
	found := map[census.Kind]int64{}
	for _, f := range r.Findings {
		found[f.Kind] = f.Count
	}
	for _, number := range []struct {
		name      string
		got, want int64
	}{
		{"ids", r.IDs, int64(len(ids))},
		{"distinct", r.Distinct, want.distinct},
		{"repeated", r.Repeated, want.repeated},
		{"writers", r.Processes, int64(len(want.writers))},
		{"beyond", r.Timeline.Beyond, beyond},
		{"duplicate", found[census.KindDuplicate], want.repeated},
		{"bound", found[census.KindBound], want.bounds},
		{"future", found[census.KindFuture], want.future},
		{"too early", found[census.KindTooEarly], want.early},
	} {
		if number.got != number.want {
			t.Errorf("%s: %d, want %d", number.name, number.got, number.want)
		}
	}
	days := map[string]int64{}
	for _, b := range r.Timeline.Buckets {
		if b.IDs > 0 {
			days[b.Start.Format(time.DateOnly)] = b.IDs
		}
	}
	if fmt.Sprint(days) != fmt.Sprint(want.days) && len(want.days) > 0 {
		t.Errorf("days %v, want %v", days, want.days)
	}
	for _, w := range r.TopProcesses {
		got := slowWriter{w.IDs, w.First, w.Last}
		if got != want.writers[w.Value] {
			t.Errorf("writer %s: %v, want %v", w.Value, got, want.writers[w.Value])
		}
		sum := int64(0)
		for _, n := range w.Timeline {
			sum += n
		}
		if sum > w.IDs {
			t.Errorf("writer %s: its timeline has %d ids of %d", w.Value, sum, w.IDs)
		}
	}
	return r
}

func kinds(r *census.Report) []census.Kind {
	var out []census.Kind
	for _, f := range r.Findings {
		out = append(out, f.Kind)
	}
	slices.Sort(out)
	return out
}

// populations is how many of each kind are played: n, or as many as the environment
// variable OID_POPULATIONS asks for.
func populations(n uint64) uint64 {
	if asked, err := strconv.ParseUint(os.Getenv("OID_POPULATIONS"), 10, 64); err == nil {
		return asked
	}
	return n
}

func TestCleanPopulationsGiveNoFinding(t *testing.T) {
	t.Parallel()
	for seed := range populations(testenv.Seeds(30)) {
		p := newPopulation(seed)
		var all []process
		for range 1 + p.random.IntN(6) {
			all = append(all, p.anyProcess())
		}
		p.play(all...)
		r := check(t, p.ids, time.Unix(p.start+1_000_000, 0))
		if len(r.Findings) != 0 {
			t.Errorf("seed %d: %v: %+v", seed, all, r.Findings)
		}
		for _, w := range r.TopProcesses {
			if got, want := w.Gaps, p.missing[value(w.Value)]; got != want || w.Jumps != 0 {
				t.Errorf("seed %d: writer %s lacks %d ids and has %d jumps, want %d and 0", seed, w.Value, got, w.Jumps, want)
			}
		}
	}
}

func value(process string) (v [5]byte) {
	if _, err := hex.Decode(v[:], []byte(process)); err != nil {
		panic(err)
	}
	return v
}

func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	for seed := range populations(testenv.Seeds(30)) {
		p := newPopulation(seed + 10_000)
		var all []process
		for range 1 + p.random.IntN(4) {
			all = append(all, p.anyProcess())
		}
		all = append(all, p.plant()...)
		p.play(all...)
		p.spoil()
		now := time.Unix(p.start+1_000_000, 0)
		r := check(t, p.ids, now)

		want := map[census.Kind]bool{
			census.KindDuplicate: p.repeated > 0, census.KindBound: p.bounds > 0, census.KindFuture: p.future > 0,
			census.KindClockStep: len(p.stepped) > 0, census.KindSharedValue: len(p.shared) > 0,
		}
		for _, k := range kinds(r) {
			if !want[k] {
				t.Errorf("seed %d: found %s, which was not planted", seed, k)
			}
			delete(want, k)
		}
		for k, planted := range want {
			if planted {
				t.Errorf("seed %d: did not find %s", seed, k)
			}
		}
		for _, w := range r.TopProcesses {
			v := value(w.Value)
			if w.Has(census.KindClockStep) != p.stepped[v] || w.Has(census.KindSharedValue) != p.shared[v] {
				made := slices.DeleteFunc(slices.Clone(all), func(a process) bool { return a.value != v })
				t.Errorf("seed %d: writer %s: stepped %v, shared %v, want %v, %v: %+v", seed, w.Value, w.Has(census.KindClockStep), w.Has(census.KindSharedValue), p.stepped[v], p.shared[v], made)
			}
			if w.Has(census.KindSharedValue) && (w.Gaps != 0 || w.Jumps != 0) {
				t.Errorf("seed %d: shared writer %s lacks %d ids, with %d jumps", seed, w.Value, w.Gaps, w.Jumps)
			}
			if missing, known := p.missing[v]; known && !w.Has(census.KindSharedValue) && w.Gaps != missing {
				t.Errorf("seed %d: writer %s lacks %d ids, want %d (stepped %v)", seed, w.Value, w.Gaps, missing, w.Has(census.KindClockStep))
			}
		}
		checkExamples(t, r, p.ids)
	}
}

// plant returns processes with faults.
func (p *population) plant() (out []process) {
	if p.random.IntN(2) == 0 {
		a := p.anyProcess()
		a.rate = []float64{1, 5, 50, 500}[p.random.IntN(4)]
		a.kept = max(a.kept, 0.5)
		length := min(int64(5000/a.rate), 600)
		a.stepAt = a.from + length/4 + p.random.Int64N(length/4)
		a.until = a.from + length
		a.stepBy = []int64{5, 10, 40, 100, 3600, 86_400}[p.random.IntN(6)]
		if a.rate < 2 {
			a.stepBy = max(a.stepBy, 40) // what a few ids can show
		}
		if a.rate < 10 {
			a.stepBy = max(a.stepBy, 10) // and what late threads do not explain
		}
		p.stepped[a.value] = true
		out = append(out, a)
	}
	if p.random.IntN(2) == 0 {
		a, b := p.anyProcess(), p.anyProcess()
		a.rate, b.rate = max(a.rate, 1), max(b.rate, 1)
		a.kept, b.kept = max(a.kept, 0.5), max(b.kept, 0.5)
		b.value = a.value
		b.from, b.until = a.from, a.until
		if p.random.IntN(3) == 0 {
			b.counter = a.counter + 5 // forked: it goes on from the same state
		} else if d := (b.counter - a.counter) & 0xFFFFFF; d < 1<<18 || d > 1<<24-1<<18 {
			b.counter = a.counter + 1<<23
		}
		p.shared[a.value] = true
		out = append(out, a, b)
	}
	return out
}

// spoil adds ids that no process makes, or not then.
func (p *population) spoil() {
	at := func() int { return p.random.IntN(len(p.ids) + 1) }
	insert := func(i int, ids ...objectid.ID) { p.ids = slices.Insert(p.ids, i, ids...) }
	if p.random.IntN(2) == 0 && len(p.ids) > 0 {
		for range 1 + p.random.IntN(3) {
			i := p.random.IntN(len(p.ids))
			insert(i, p.ids[i], p.ids[i])
		}
	}
	if p.random.IntN(2) == 0 {
		for range 1 + p.random.IntN(3) {
			insert(at(), objectid.MinAt(time.Unix(p.start+p.random.Int64N(1000), 0)))
			p.bounds++
		}
	}
	if p.random.IntN(2) == 0 {
		for range 1 + p.random.IntN(3) {
			insert(at(), p.id(time.Duration(1_001_000+p.random.IntN(1e8))*time.Second))
			p.future++
		}
	}
	seen := map[objectid.ID]int{}
	for _, id := range p.ids {
		if seen[id]++; seen[id] == 2 {
			p.repeated++
		}
	}
}

// checkExamples sees that every example is the id at the place that it names.
func checkExamples(t *testing.T, r *census.Report, ids []objectid.ID) {
	t.Helper()
	for _, f := range r.Findings {
		if len(f.Examples) == 0 {
			t.Errorf("%s: no examples", f.Kind)
		}
		if f.Title == "" || f.Reason == "" {
			t.Errorf("%s: says nothing", f.Kind)
		}
		for _, e := range f.Examples {
			if got := ids[e.Position.Number-1]; got != e.ID {
				t.Errorf("%s: %v is said to stand on %v, where %v does", f.Kind, e.ID, e.Position, got)
			}
		}
	}
}

// TestRandomIDs counts ids that no process can have made.
func TestRandomIDs(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for _, spread := range []int{1, 3, 40, 1500} {
		values := make([]objectid.ID, spread)
		for i := range values {
			for k := range values[i] {
				values[i][k] = byte(random.Uint32())
			}
		}
		var ids []objectid.ID
		for range 20_000 {
			id := values[random.IntN(spread)]
			copy(id[:3], values[random.IntN(spread)][:3])
			id[9+random.IntN(3)] = byte(random.Uint32())
			ids = append(ids, id)
		}
		check(t, ids, time.Unix(1_800_000_000, 0))
	}
}

// TestFaultsAreNoDeletions holds that the counters between those of two processes with one
// value, and around a clock step, are not taken for deleted ids.
func TestFaultsAreNoDeletions(t *testing.T) {
	var healthy, shared, stepped []objectid.ID
	for i := range 40 * day / 60 {
		healthy = append(healthy, made(1, 60*i, i))
	}
	const at = 20 * day
	for s := range 100 {
		shared = append(shared, run(at+s, s%2*2000+s/2*200, 200)...)
	}
	for i := range 40 { // every two seconds, and after the tenth time 13 seconds back
		stepped = append(stepped, run(at+2*i-min(i/10, 1)*15, 200*i, 200)...)
	}
	for kind, ids := range map[census.Kind][]objectid.ID{census.KindSharedValue: shared, census.KindClockStep: stepped} {
		r := reportOf(t, slices.Concat(healthy, ids), &census.Options{Now: time.Unix(origin+40*day, 0)}, nil)
		if got := kinds(r); !slices.Contains(got, kind) {
			t.Errorf("%s is not found, but %v", kind, got)
		}
		for _, e := range r.Events {
			if e.Kind == census.KindDeletion {
				t.Errorf("%s: %+v", kind, e)
			}
		}
	}
}

// TestSharedByContainers holds that a process value with process id 1 that is shared names the
// usual cause, and that others do not.
func TestSharedByContainers(t *testing.T) {
	for value, want := range map[uint64]bool{0xa1b2c30001: true, 0xa1b2c30101: false, 0xa1b2c30002: false} {
		var ids []objectid.ID
		for s := range 60 {
			for i := range 20 {
				ids = append(ids, made(value, s, 20*s+i), made(value, s, half+20*s+i))
			}
		}
		r := reportOf(t, ids, nil, nil)
		if got := kinds(r); !slices.Equal(got, []census.Kind{census.KindSharedValue}) || strings.Contains(r.Findings[0].Reason, "containers") != want {
			t.Errorf("%x: %v %+v", value, got, r.Findings)
		}
	}
}

// TestKinds finds something of each kind, and reads what its count counts.
func TestKinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var shared, noSequence, valuePerID []objectid.ID
	for s := range 60 {
		shared = slices.Concat(shared, run(s, 20*s, 20), run(s, half+20*s, 20))
	}
	for i := range 8 {
		noSequence = append(noSequence, made(1, i, 7_654_321*i), made(1, i, 7_654_321*i+wrap/8))
	}
	for i := range 1000 {
		valuePerID = append(valuePerID, made(random.Uint64N(1<<40), i/100, i))
	}
	list := func(parts ...[]objectid.ID) string { return string(listOf(slices.Concat(parts...), false)) }
	want := map[census.Kind]struct{ source, counts string }{
		census.KindDuplicate:   {list(run(0, 0, 3), run(0, 1, 1)), "1 ids"},
		census.KindSharedValue: {list(shared), "1 processes"},
		census.KindClockStep:   {list(steady(0, 0, 60, 40), steady(57, 2400, 120, 40)), "1 processes"},
		census.KindResumed:     {list(steady(0, 0, 200, 10), steady(50_000, 64, 40, 10)), "1 processes"},
		census.KindNoSequence:  {list(noSequence), "1 processes"},
		census.KindValuePerID:  {list(valuePerID), "1000 ids"},
		census.KindNoTime:      {list(randomIDs(random, 40)), "40 ids"},
		census.KindFuture:      {"f0000000a1b2c3d4e5000001", "1 ids"},
		census.KindTooEarly:    {"00000001a1b2c3d4e5000001", "1 ids"},
		census.KindBound:       {"60000000ffffffffffffffff", "1 ids"},
		census.KindMixedTypes:  {`{"_id":{"$oid":"507f1f77bcf86cd799439011"}}` + "\n" + `{"_id":"x"}`, "1 values"},
	}
	for _, kind := range census.Kinds() {
		w, ok := want[kind]
		switch {
		case !ok:
			t.Errorf("no vector of the kind %s: add a source with such a finding, and what it counts, to this test, and both sides of its bound to thresholds_test.go", kind)
			continue
		}
		c := census.New(nil)
		if err := c.Read(t.Context(), "source", strings.NewReader(w.source)); err != nil {
			t.Fatal(err)
		}
		r, err := c.Report(nil)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Findings, func(f census.Finding) bool { return f.Kind == kind })
		if i < 0 {
			t.Errorf("%s is not found, but %v", kind, kinds(r))
		} else if f := r.Findings[i]; fmt.Sprint(f.Count, " ", f.Kind.Counts()) != w.counts || f.Title == "" || f.Reason == "" {
			t.Errorf("%s: %+v counts %s, want %s", kind, f, f.Kind.Counts(), w.counts)
		} else if kind.Counts() == "processes" && !slices.Contains(r.TopProcesses[0].Findings, kind) {
			t.Errorf("%s: the process has %v", kind, r.TopProcesses[0].Findings)
		}
	}
}
