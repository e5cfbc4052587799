package verify

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// judge returns the promises that the ids of one process break.
func judge(t *testing.T, mode ClockMode, write func(s *Stream)) ([]Promise, []Result) {
	t.Helper()
	s := NewStream("it", 0, NewClock(mode, time.Now()), 1<<40)
	write(s)
	results := Copies([]*Stream{s})
	return broken(results), results
}

func broken(results []Result) (promises []Promise) {
	for _, r := range results {
		if r.State == Broken {
			promises = append(promises, r.Promise)
		}
	}
	return slices.Compact(promises)
}

// Beyond 2^24 ids in a second a counter of three bytes repeats them; one id less
// does not.
func TestFullSecond(t *testing.T) {
	testenv.WithoutRace(t)
	const value = 0x0123456789 << 24
	for _, ids := range []int{counters, counters + 1} {
		got, results := judge(t, Frozen, func(s *Stream) {
			now := uint32(s.clock.Moment())
			for i := range ids {
				s.add(now, value|uint64(i+1000)&(counters-1))
			}
		})
		want := []Promise{CounterWrap}
		if ids > counters {
			want = []Promise{NoRepeats, CounterWrap}
			if r := results[0]; r.Count != 1 || r.Meaning != tooMany.meaning || !strings.HasPrefix(r.Example, "it: id 16777217 is the same as id 1: ") {
				t.Errorf("%+v", results[0])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d ids: broken %v, want %v", ids, got, want)
		}
	}
}

// A counter that leaves out its last value overflows all the same; one that falls from
// elsewhere does not.
func TestOverflowThatSkips(t *testing.T) {
	const value = 0x0123456789 << 24
	now := uint32(time.Now().Unix())
	for _, c := range []struct {
		before, after uint64
		want          []Promise
	}{
		{counters - 2, 0, []Promise{CounterWrap, CounterStep}},
		{counters - 1, 0, []Promise{CounterWrap}},
		{counters - overflow, overflow - 1, []Promise{CounterWrap, CounterStep}},
		{counters - overflow - 1, 0, []Promise{Order, CounterStep}},
		{counters - 1, overflow, []Promise{Order, CounterStep}},
	} {
		got, _ := judge(t, Running, func(s *Stream) {
			s.add(now, value|c.before)
			s.add(now, value|c.after)
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%x then %x: broken %v, want %v", c.before, c.after, got, c.want)
		}
	}
}

// The generators of objectid keep all promises beyond 2^24 ids in a second, whatever
// their layout; the last byte of the process value carries.
func TestOwnGenerators(t *testing.T) {
	testenv.WithoutRace(t)
	for _, layout := range objectid.Layouts {
		clock := NewClock(Frozen, time.Now())
		g, err := objectid.NewGenerator(&objectid.Options{Layout: layout, Now: func() time.Time { return time.Unix(clock.Moment(), 0) }})
		if err != nil {
			t.Fatal(err)
		}
		s := NewStream("it", 0, clock, 1<<40)
		ids := make([]objectid.ID, 1<<16)
		var text []byte
		for range 2*counters/len(ids) + 1 {
			g.Fill(ids)
			text = text[:0]
			for _, id := range ids {
				text, _ = id.AppendText(text)
				text = append(text, '\n')
			}
			if err := s.Lines(text); err != nil {
				t.Fatal(err)
			}
		}
		results := Copies([]*Stream{s})
		if got := broken(results); got != nil || results[2].Promise != CounterWrap || results[2].State != Holds {
			t.Errorf("%v: %+v", layout, results)
		}
	}
}

// A counter that is random for each id jumps, and repeats ids by chance; both are found
// however long ago an id was.
func TestRandomCounter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := map[uint64]bool{}
	const ids = 200_000
	got, results := judge(t, Frozen, func(s *Stream) {
		now := uint32(s.clock.Moment())
		for range ids {
			low := uint64(0x0123456789)<<24 | uint64(random.Uint32N(counters))
			all[low] = true
			s.add(now, low)
		}
	})
	if want := []Promise{NoRepeats, Order, CounterWrap, CounterStep}; !slices.Equal(got, want) && !slices.Equal(got, slices.Delete(want, 2, 3)) {
		t.Errorf("broken %v", got)
	}
	if results[0].Count != int64(ids-len(all)) {
		t.Errorf("%d repeats, want %d", results[0].Count, ids-len(all))
	}
}

// What needs too many runs is forgotten, and the report says so.
func TestForgetting(t *testing.T) {
	var s seen
	var repeats int64
	found := func(r repeat) { repeats += r.ids }
	for i := range maxRuns + maxRuns/2 {
		s.add(run{uint32(i), 5, 5, int64(i + 1)}, found)
	}
	s.add(run{uint32(maxRuns + 1), 5, 6, 1 << 40}, found)
	s.add(run{1, 5, 5, 1<<40 + 2}, found) // forgotten
	s.compact(found)
	if !s.forgotten || repeats != 1 || len(s.runs) > maxRuns {
		t.Errorf("forgotten %v, %d repeats, %d runs", s.forgotten, repeats, len(s.runs))
	}
	stream := NewStream("it", 0, NewClock(Running, time.Now()), 1)
	stream.seen.forgotten = true
	if got := Copies([]*Stream{stream})[0]; got.State != Unseen || !strings.Contains(got.Meaning, "earlier ones are forgotten") {
		t.Errorf("%+v", got)
	}
}

// Runs find the same repeats as a set of all ids, in one stream and between two.
func TestSeenAgreesWithASet(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var streams [2]seen
		var sets [2]map[[2]uint64]bool
		var got, want int64
		count := func(r repeat) { got += r.ids }
		for i := range streams {
			sets[i] = map[[2]uint64]bool{}
			at := int64(1)
			for range random.IntN(20) {
				r := run{second: random.Uint32N(2), lo: random.Uint64N(30), at: at}
				r.hi = r.lo + random.Uint64N(8)
				at += int64(r.hi - r.lo + 1)
				for low := r.lo; low <= r.hi; low++ {
					if k := [2]uint64{uint64(r.second), low}; sets[i][k] {
						want++
					} else {
						sets[i][k] = true
					}
				}
				streams[i].add(r, count)
			}
			streams[i].compact(count)
		}
		for k := range sets[0] {
			if sets[1][k] {
				want++
			}
		}
		streams[0].common(&streams[1], count)
		if got != want {
			t.Fatalf("%d repeats, want %d", got, want)
		}
	}
}

// The second may be that of the clock, or lead it by one for each overflow.
func TestSecondOnBothSides(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	c := NewClock(Running, now)
	for _, s := range []struct {
		second, lead int64
		want         breach
	}{
		{-2, 0, behind},
		{-1, 0, breach{}}, // the coarse clock of the system may be late
		{0, 0, breach{}},
		{100, 0, ahead},
		{100, 100, breach{}},
	} {
		if got, example := c.check(uint32(now.Unix()+s.second), s.lead); got != s.want || (example == "") != (got == breach{}) {
			t.Errorf("%+v: %v, %q", s, got, example)
		}
	}
	f := NewClock(Frozen, now)
	for lead, want := range []breach{ahead, {}} {
		if got, _ := f.check(uint32(f.Moment()+1), int64(lead)); got != want {
			t.Errorf("lead %d: %v", lead, got)
		}
	}
	if !f.Ignored(uint32(now.Unix())) || f.Ignored(uint32(f.Moment())) || c.Ignored(uint32(now.Unix())) {
		t.Error("Ignored")
	}
	if b, _ := c.checkEnd(5, 0, 4*time.Second); b != stuck {
		t.Error("4 s with one second")
	}
	if b, _ := c.checkEnd(5, 0, 2*time.Second); b != (breach{}) {
		t.Error("2 s with one second")
	}
}

// Lines of every notation that is allowed, split anywhere, are the same ids.
func TestLines(t *testing.T) {
	const id = "6b0025be0fbc7c8cd4ba1c2"
	text := []byte(id + "1\n\"" + id + "2\"\r\n{\"$oid\":\"" + id + "3\"}\n  " + id + "4\r\n" + strings.ToUpper(id) + "5\n" + id + "6")
	got, results := judge(t, Frozen, func(s *Stream) {
		if err := s.Lines(text); err != nil || s.IDs() != 6 || s.low&0xFF != 0x26 {
			t.Errorf("%v, %d ids, %x", err, s.IDs(), s.low)
		}
	})
	if !slices.Equal(got, []Promise{Second}) {
		t.Errorf("%+v", results)
	}
	for _, c := range []struct{ text, want string }{
		{"\n", "it, line 1 is not an id: it is empty"},
		{id + "1\n" + id + "\n", `it, line 2 is not an id: "` + id + `"`},
		{id + "g\n", `it, line 1 is not an id: "` + id + `g"`},
		{"\n" + id + "\n" + id, "it, line 1 is not an id: it is empty"},
		{strings.Repeat("x", 100), `it, line 1 is not an id: "` + strings.Repeat("x", 60) + `..."`},
	} {
		s := NewStream("it", 0, NewClock(Running, time.Now()), 10)
		if err := s.Lines([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// A text that the decoding test calls an id is one, and others are not.
func TestTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range Texts() {
		if id, err := objectid.Parse(x.Line); (err == nil) != (x.ID != nil) || err == nil && id != *x.ID {
			t.Errorf("%q: %v, %v", x.Line, id, err)
		}
		if strings.ContainsAny(x.Line, "\r\n") || seen[x.Line] && x.Line != strings.ToUpper(x.Line) {
			t.Errorf("%q", x.Line)
		}
		seen[x.Line] = true
	}
	d := NewDecoding()
	for _, x := range JSONTexts() {
		var id objectid.Optional
		answer := Refused
		if err := id.UnmarshalJSON([]byte(x.Line)); err == nil {
			answer = id.String()
		}
		if err := d.Answer(x, answer); err != nil {
			t.Errorf("%q: %v", x.Line, err)
		}
	}
	if got := d.Results(); broken(got) != nil {
		t.Errorf("%+v", got)
	}
}

// Any text is judged without a panic, and each repeat of it is found.
func FuzzLines(f *testing.F) {
	f.Add([]byte("6b0025be0fbc7c8cd4ba1c2e\n6b0025be0fbc7c8cd4ba1c2f\n"))
	f.Add([]byte("\"6b0025be0fbc7c8cd4ba1c2e\"\n\n{\"$oid\":1}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := NewStream("it", 0, NewClock(Running, time.Now()), 1000)
		if err := s.Lines(text); err != nil {
			return
		}
		different := map[objectid.ID]bool{}
		for line := range bytes.Lines(text) {
			var id objectid.ID
			if readID(&id, bytes.TrimSpace(line)) == nil && len(different) < 1000 {
				different[id] = true
			}
		}
		results := Copies([]*Stream{s})
		if n := s.IDs(); n < 1000 && results[0].Count != n-int64(len(different)) {
			t.Errorf("%d repeats among %d ids, %d of them different", results[0].Count, n, len(different))
		}
	})
}

func BenchmarkLines(b *testing.B) {
	ids := make([]objectid.ID, 10_000)
	objectid.Fill(ids)
	var text []byte
	for _, id := range ids {
		text, _ = id.AppendText(text)
		text = append(text, '\n')
	}
	s := NewStream("it", 0, NewClock(Running, time.Now()), 1<<60)
	for b.Loop() {
		if err := s.Lines(text); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(ids))/b.Elapsed().Seconds()/1e6, "Mids/s")
}
