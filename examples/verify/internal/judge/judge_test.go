package judge

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

const (
	now   = 1_800_000_000
	value = 0x1122334455 << 24
)

// stream returns a stream of a program, at a time that does not move.
func stream(name string, pid int, mode ClockMode) *Stream {
	c := NewClock(mode, time.Unix(now, 0), func() time.Time { return time.Unix(now, 0) })
	c.from, c.to = c.read(0), c.read(0)
	r := &Reader{PID: pid, Want: 1 << 40, Clock: c}
	r.add(name, name)
	return r.last()
}

// with adds ids of a second to a stream.
func (s *Stream) with(second uint32, lows ...uint64) *Stream {
	for _, low := range lows {
		s.add(second, low)
	}
	s.settle(s.ids)
	return s
}

// Beyond 2^24 ids in a second a counter of three bytes repeats them; one id less does not.
func TestFullSecond(t *testing.T) {
	testenv.Long(t, "takes seconds")
	for ids, want := range map[int]string{counters: "[]", counters + 1: "[no-repeats]"} {
		s := stream("it", 1, Frozen)
		for i := range ids {
			s.add(uint32(s.clock.Moment()), value|uint64(i+1000)&(counters-1))
		}
		results := Judge([]*Stream{s}, false)
		if got := fmt.Sprint(Failed(results)); got != want || find(results, CounterWrap).State != Broken {
			t.Errorf("%d ids: %s\n%+v", ids, got, results)
		}
		if r := results[0]; want != "[]" && (r.Times != 1 || !strings.Contains(r.Cause, "more than 2^24")) {
			t.Errorf("%+v", r)
		}
		if got := Failed(Judge([]*Stream{s}, true)); !slices.Contains(got, "counter-wrap") {
			t.Errorf("order was asked for: %v", got)
		}
	}
}

// The generators of objectid keep all promises beyond 2^24 ids in a second, whatever their
// layout; the last byte of the process value carries.
func TestOwnGenerators(t *testing.T) {
	testenv.Long(t, "takes seconds")
	for _, layout := range objectid.Layouts() {
		s := stream("it", 1, Frozen)
		g, err := objectid.NewGenerator(&objectid.Options{Layout: layout, Now: func() time.Time { return time.Unix(s.clock.Moment(), 0) }})
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]objectid.ID, 1<<16)
		for range 2*counters/len(ids) + 1 {
			g.Fill(ids)
			for _, id := range ids {
				s.add(binary.BigEndian.Uint32(id[:]), binary.BigEndian.Uint64(id[4:]))
			}
			s.settle(s.ids)
		}
		if results := Judge([]*Stream{s}, true); Failed(results) != nil || find(results, CounterWrap).State != Holds {
			t.Errorf("%v: %+v", layout, results)
		}
	}
}

// What two ids show, on both sides of each threshold.
func TestTwoIDs(t *testing.T) {
	const last = value | (counters - 1)
	for _, c := range []struct {
		second, next uint32
		low, then    uint64
		want         string
	}{
		{now, now, last, value, "map[counter-wrap:1]"},
		{now, now, last - 1, value, "map[counter-wrap:1]"},
		{now, now, last + 1 - overflow, value + overflow - 1, "map[counter-wrap:1]"},
		{now, now, last - overflow, value, "map[counter-step:1 order:1]"},
		{now, now, last, value + overflow, "map[counter-step:1 order:1]"},
		{now, now, last, last + 1, "map[]"}, // carries into the process value
		{now, now, value | 0xFFFF, value, "map[counter-step:1 order:1]"},
		{now, now, value | 0x1FFF, value, "map[order:1]"}, // from a pool
		{now, now, value, value + 1, "map[]"},
		{now, now, value, value + 2, "map[counter-step:1]"},
		{now, now, value, value, "map[no-repeats:1]"},
		{now - 1, now, value, value + 1, "map[]"},
		{now - 1, now, value, value + 2, "map[next-second:1]"},
		{now, now - 1, value, value + 1, "map[order:1]"},
		{now - 2, now - 1, value, value + 1, "map[second:1]"},
		{now, now + 1, value, value + 1, "map[second:1]"},
		{now, now, value, value + counters, "map[process-value:1]"},
		{now - 1, now, value, value + counters, "map[process-value:1]"},
		{now - 1, now + 1, value, value + counters, "map[second:1]"}, // a generator may take it for a resume
	} {
		s := stream("it", 1, Running).with(c.second, c.low).with(c.next, c.then)
		s.end()
		got := map[Promise]int64{}
		for p, f := range s.found {
			got[p] = f.Times
		}
		if cause := s.found[CounterStep].Cause; fmt.Sprint(got) != c.want || strings.Contains(cause, "2^16") != (c.low == value|0xFFFF) {
			t.Errorf("%x %x, %x %x: %v, want %s", c.second, c.low, c.next, c.then, got, c.want)
		}
	}
}

// Counters may wait in a pool, if no more are left than it may hold, and none comes again.
func TestPoolOnBothSides(t *testing.T) {
	for _, c := range []struct {
		ids, left, back, repeats int64
		want                     Promise
	}{
		{1000, 0, 0, 0, ""},
		{1000, 1, 0, 0, CounterStep},
		{1000, pool, pool, 0, ""},
		{1000, pool, pool - 1, 0, CounterStep},
		{1000, pool + 1, 1 << 20, 0, CounterStep},
		{100_000, 25_000, 1 << 20, 0, ""},
		{100_000, 25_001, 1 << 20, 0, CounterStep},
		{1000, -1, 1, 1, ""},
		{1000, -1, 1, 0, CounterStep}, // comes again in another second
	} {
		k := movement{most: c.ids + c.left - 1, back: c.back, within: 1}
		if got, cause := k.judge(c.ids, c.ids-c.repeats, false); got != c.want {
			t.Errorf("%+v: %s, %s", c, got, cause)
		}
	}
}

// The bounds by which the clock is judged.
func TestClockOnBothSides(t *testing.T) {
	at := func(d time.Duration) reading { return reading{at: time.Unix(now, 0).Add(d)} }
	for _, c := range []struct {
		from, to time.Duration
		told     bool
	}{
		{4500 * time.Millisecond, 5 * time.Second, true},
		{4400 * time.Millisecond, 4900 * time.Millisecond, false},
		{9 * time.Second, 10 * time.Second, true},
		{9 * time.Second, 10*time.Second + 1, false}, // they may have waited
	} {
		s := stream("it", 1, Running)
		s.clock.from, s.clock.to = at(c.from), at(c.to)
		s.with(now+5, value)
		if reason := s.pace.unseen(s.clock); (reason == "") != c.told {
			t.Errorf("%+v: %q", c, reason)
		}
		for off, set := range map[time.Duration]bool{maxSet: false, -maxSet: false, maxSet + 1: true, -maxSet - 1: true} {
			s.clock.set, s.clock.wall = false, s.clock.began.UnixNano()+int64(off)
			if s.clock.read(0); s.clock.set != set {
				t.Errorf("set by %v: %v", off, s.clock.set)
			}
		}
	}
	s := stream("it", 1, Running)
	for hours, want := range map[float64]string{14.25: "51300 s ahead", -14.25: "s behind", 0.3: "1080 s ahead"} {
		if got := s.clock.cause(uint32(now+hours*3600), now, now); !strings.Contains(got, want) {
			t.Errorf("%v h: %s", hours, got)
		}
	}
	s.clock.set = true
	if r := find(Judge([]*Stream{s.with(now+9, value)}, false), Second); r.State != CannotTell || !strings.Contains(r.Cause, "was set") {
		t.Errorf("%+v", r)
	}
}

// Buffers of HeldBytes do not make ids late, and larger ones do.
func TestBuffersOnBothSides(t *testing.T) {
	for part, want := range map[int]string{20: "[]", 30: "[second]"} {
		w, reads := newWorld(1), 0
		w.batch, w.capacity, w.every, w.left = 1, HeldBytes/factor*part/20-hexLine-1, time.Millisecond, 30_000
		w.reader = func() time.Duration {
			if reads++; reads == 20 {
				return 10 * time.Second
			}
			return 0
		}
		if got := fmt.Sprint(Failed(judgeWorlds(t, false, w))); got != want {
			t.Errorf("%d bytes: %s, want %s", w.capacity, got, want)
		}
	}
}

// What several processes share is found, and what they merely resemble is not.
func TestJudgeTogether(t *testing.T) {
	const other = 0x6677889900 << 24
	for _, c := range []struct {
		name       string
		pid        [2]int
		low, other uint64
		want       string
	}{
		{"apart", [2]int{1, 2}, value + 10, other + 20, "[]"},
		{"one value", [2]int{1, 2}, value + 10, value + 20, "[own-value]"},
		{"one id", [2]int{1, 2}, value + 10, value + 14, "[own-value no-repeats-among-processes]"},
		{"one start", [2]int{1, 2}, value + 10, other + 10, "[counter-start]"},
		{"zero", [2]int{1, 2}, value + 1, other + 0, "[counter-start]"},
		{"zero by chance", [2]int{1, 2}, value + 1, other + 2, "[]"},
		{"seeded", [2]int{1, 2}, value + (now-maxStartup)%counters, other + (now+1)%counters, "[counter-start]"},
		{"seeded by chance", [2]int{1, 2}, value + (now-maxStartup-1)%counters, other + (now+1)%counters, "[]"},
		{"seeded by chance too", [2]int{1, 2}, value + now%counters, other + (now+2)%counters, "[]"},
		{"pids", [2]int{0x34455, 0x9900}, value + 10, other + 20, "[layout]"},
		{"one pid by chance", [2]int{0x34455, 1}, value + 10, other + 20, "[]"},
		{"one machine", [2]int{1, 2}, value + 10, value + 1<<24 + 20, "[layout]"},
		{"a fork", [2]int{}, value + 10, value + 20, "[own-value]"},
		{"a fork with another value", [2]int{}, value + 10, value + 1<<24 + 10, "[]"},
	} {
		a, b := stream("a", c.pid[0], Running), stream("b", c.pid[1], Running)
		for i := range uint64(5) {
			a.with(now, c.low+i)
			b.with(now, c.other+i)
		}
		judged := Judge([]*Stream{a, b}, false)
		if got := fmt.Sprint(Failed(judged)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		// Of one value of all processes cannot be told whether it is random.
		layout := judged[slices.IndexFunc(judged, func(p Result) bool { return p.Promise == string(Layout) })]
		if same := c.low>>24 == c.other>>24; (layout.State == CannotTell) != (same || c.pid[0] == 0) {
			t.Errorf("%s: the process value is random: %s", c.name, layout.State)
		}
	}
}

// What needs too many runs is forgotten, and the report says so.
func TestForgetting(t *testing.T) {
	var repeats int64
	s := stream("it", 1, Frozen)
	found := func(ids int64, _ run) { repeats += ids }
	for i := range maxRuns + maxRuns/2 {
		s.seen.add(run{uint32(i), 5, 5}, found)
	}
	s.seen.add(run{uint32(maxRuns + 1), 5, 6}, found)
	s.seen.add(run{1, 5, 5}, found) // forgotten
	s.seen.compact(found)
	if !s.seen.forgotten || repeats != 1 || len(s.seen.runs) > maxRuns {
		t.Errorf("forgotten %v, %d repeats, %d runs", s.seen.forgotten, repeats, len(s.seen.runs))
	}
	if got := Judge([]*Stream{s.with(now, value)}, false)[0]; got.State != CannotTell || !strings.Contains(got.Cause, "earlier ones are forgotten") {
		t.Errorf("%+v", got)
	}
}

// Runs find the same repeats as a set of all ids, in one stream and between two.
func TestSeenAgreesWithASet(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var streams [2]seen
		sets := [2]map[[2]uint64]bool{{}, {}}
		var got, want int64
		count := func(ids int64, _ run) { got += ids }
		for i := range streams {
			for range random.IntN(20) {
				r := run{second: random.Uint32N(2), lo: random.Uint64N(30)}
				r.hi = r.lo + random.Uint64N(8)
				for low := r.lo; low <= r.hi; low++ {
					k := [2]uint64{uint64(r.second), low}
					if sets[i][k] {
						want++
					}
					sets[i][k] = true
				}
				streams[i].add(r, count)
			}
			streams[i].compact(count)
			for j, r := range streams[i].runs[min(1, len(streams[i].runs)):] {
				if before := streams[i].runs[j]; r.second == before.second && r.lo <= before.hi+1 {
					t.Fatalf("%v and %v are not joined", before, r)
				}
			}
		}
		for k := range sets[0] {
			if sets[1][k] {
				want++
			}
		}
		if streams[0].common(&streams[1], count); got != want {
			t.Fatalf("%d repeats, want %d", got, want)
		}
	}
}

// Lines of every notation that is allowed, split anywhere, are the same ids.
func TestLines(t *testing.T) {
	const id = "6b0025be0fbc7c8cd4ba1c2"
	text := []byte(id + "1\n\"" + id + "2\"\r\n{\"$oid\":\"" + id + "3\"}\n  " + id + "4\r\n" + strings.ToUpper(id) + "5\n" + id + "6")
	s := stream("it", 1, Running)
	if rest, err := s.lines(text); err != nil || len(rest) > 0 || s.ids != 6 || s.low&0xFF != 0x26 {
		t.Errorf("%v, %d ids, %x", err, s.ids, s.low)
	}
	for _, c := range []struct{ text, want string }{
		{"\n", "it, line 1 is not an id: \"\""},
		{id + "1\n" + id + "\n", `it, line 2 is not an id: "` + id + `"`},
		{id + "g\n", `it, line 1 is not an id: "` + id + `g"`},
		{strings.Repeat("x", 100), `it, line 1 is not an id: "` + strings.Repeat("x", 60) + `"`},
	} {
		if _, err := stream("it", 1, Running).lines([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// A text that the decoding test calls an id is one, and others are not; what objectid
// answers is right.
func TestTexts(t *testing.T) {
	for _, x := range Texts() {
		if id, err := objectid.Parse(x.Line); (err == nil) != (x.ID != nil) || err == nil && id != *x.ID || strings.ContainsAny(x.Line, "\r\n") {
			t.Errorf("%q: %v, %v", x.Line, id, err)
		}
	}
	texts := JSONTexts()
	got, err := Decode(texts, func(i int) (string, error) {
		var id objectid.ID
		if err := id.UnmarshalJSON([]byte(texts[i].Line)); err != nil {
			return Refused, nil
		}
		return id.String(), nil
	})
	if err != nil || len(got) != 3 || Failed(got) != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// Any text is read without a panic, and each repeat of it is found.
func FuzzLines(f *testing.F) {
	f.Add([]byte("6b0025be0fbc7c8cd4ba1c2e\n6b0025be0fbc7c8cd4ba1c2f\n"), false)
	f.Add([]byte("\"6b0025be0fbc7c8cd4ba1c2e\"\nchild\n{\"$oid\":1}\nparent\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, fork bool) {
		r := &Reader{Name: "it", Want: 1000, Held: HeldBytes, Fork: fork, Clock: NewClock(Running, time.Now(), time.Now)}
		streams, err := r.Read(bytes.NewReader(text))
		if err != io.EOF || fork || streams[0].ids == 0 {
			return
		}
		different := map[objectid.ID]bool{}
		for line := range bytes.Lines(text) {
			var id objectid.ID
			if readID(&id, bytes.TrimSpace(line)) {
				different[id] = true
			}
		}
		results := Judge(streams, true)
		if n := streams[0].ids; results[0].Times != n-int64(len(different)) {
			t.Errorf("%d repeats among %d ids, %d of them different", results[0].Times, n, len(different))
		}
	})
}

// Programs that start in different seconds stand still at the same moments: copies that
// create the same ids are else found or not by luck.
func TestClocksOfOneJudgement(t *testing.T) {
	start := time.Unix(now, 0)
	for _, mode := range ClockModes {
		early := NewClock(mode, start, func() time.Time { return start })
		late := NewClock(mode, start, func() time.Time { return start.Add(3 * time.Second) })
		if !slices.Equal(early.moments, late.moments) {
			t.Errorf("%s: %d and, three seconds later, %d", mode, early.moments, late.moments)
		}
	}
}
