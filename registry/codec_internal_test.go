package registry

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
)

// busy returns the samples of a Go service under load, one for each interval.
func busy(from time.Time, interval time.Duration, n int) []Sample {
	random := rand.New(rand.NewPCG(1, 2))
	s := Sample{from, Load{RSS: 80 << 20, Files: 40, Threads: 12, Goroutines: 60, Heap: 30 << 20}}
	out := make([]Sample, n)
	for i := range out {
		s.Time = s.Time.Add(interval + time.Duration(random.IntN(20)-10)*time.Millisecond)
		s.CPU += time.Duration(random.IntN(300)) * 10 * time.Millisecond
		s.RSS += int64(random.IntN(41)-20) * 4096
		s.Heap = 20<<20 + random.Int64N(30<<20)
		s.Goroutines = 50 + random.Int64N(40)
		s.Files += random.Int64N(3) - 1
		out[i] = s
	}
	return out
}

func decodeSamples(b []byte) ([]Sample, error) {
	r := reader{b: b}
	held := r.samples()
	return held, r.err
}

func roundedLoad(l Load) Load {
	n := numbersOf(&l).rounded()
	n.set(&l)
	return l
}

// Small values come back as they were, and large ones rounded down to a step.
func TestSamplesKeepTheirPrecision(t *testing.T) {
	at := time.UnixMilli(1795285085650).UTC()
	for _, c := range []struct{ give, want Load }{
		{noLoad, noLoad},
		{Load{}, Load{}},
		{Load{CPU: 160*time.Millisecond - 1, RSS: 65535, Heap: 1<<20 - 1, Files: 12345}, Load{CPU: 160*time.Millisecond - 1, RSS: 65535, Heap: 1<<20 - 1, Files: 12345}},
		{Load{CPU: 160*time.Millisecond + 1, RSS: 65537, Heap: 1<<20 + 1}, Load{CPU: 160 * time.Millisecond, RSS: 65536, Heap: 1 << 20}},
		{Load{CPU: math.MaxInt64, RSS: math.MaxInt64, Files: math.MaxInt64, Heap: math.MinInt64}, roundedLoad(Load{CPU: math.MaxInt64, RSS: math.MaxInt64, Files: math.MaxInt64, Heap: math.MinInt64})},
	} {
		give := []Sample{{at, noLoad}, {at.Add(time.Second), c.give}, {at.Add(time.Hour), c.give}}
		got, err := decodeSamples(appendSamples(nil, give))
		if err != nil || len(got) != 3 || got[0].Load != noLoad || got[1].Load != c.want || got[2].Load != c.want || !got[2].Time.Equal(give[2].Time) {
			t.Errorf("%+v: %+v, %v, want %+v", c.give, got, err, c.want)
		}
	}
}

// The sizes below are those of services that have all numbers.
func TestBusyLoadHasAllNumbers(t *testing.T) {
	for _, f := range loadFields {
		if last := busy(time.Now(), time.Second, 100)[99]; *f.Of(&last.Load) == 0 {
			t.Errorf("%s is 0: let busy give it values as those of a service under load", f.Name)
		}
	}
}

// A heartbeat writes less than 200 bytes, even with six samples that all differ.
func TestLivingRecordIsSmall(t *testing.T) {
	g := gpid.MustParse("[2001:db8::ffff:1234]:65535:1795166651598985:4194304")
	p := Process{GPID: g, Block: "a1b2c3d4", Interval: 10 * time.Second, Recent: busy(time.Now(), 10*time.Second, maxRecent)}
	p.Last = Heartbeat{Count: 1 << 20, Time: time.Now(), Monotonic: 1000 * time.Hour, Load: p.Recent[maxRecent-1].Load}
	p.Clock = &ClockOffset{-50 * time.Millisecond, 70 * time.Millisecond}
	raw, err := bson.Marshal(livingOf(&p, maxRecent))
	const revision = 18 // which the store adds
	if err != nil || len(raw)+revision >= 200 {
		t.Errorf("%d bytes, %v", len(raw)+revision, err)
	}
	t.Logf("%d bytes", len(raw)+revision)
}

// The BSON of a heartbeat and of samples is what the driver makes of their documents.
func TestDataDocIsWhatTheDriverWrites(t *testing.T) {
	for _, data := range [][]byte{{}, []byte("some data")} {
		key := sampleKey("a1b2c3d4", time.Now())
		want, err := bson.Marshal(bson.D{{Key: "_id", Value: key}, {Key: "v", Value: format}, {Key: "d", Value: data}})
		if got := dataDoc(key, data); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, bson.Raw(want))
		}
	}
}

// A week of a process: all samples of the last day, and one a minute of the others.
func TestWeekOfSamplesIsSmall(t *testing.T) {
	now := time.Now()
	size, n := 0, 0
	for h := range 7 * 24 {
		held := busy(now.Add(-time.Duration(h)*time.Hour), 10*time.Second, 360)
		if h >= 24 {
			held = slices.DeleteFunc(held, func(s Sample) bool { n++; return n%6 != 0 })
		}
		size += len(samplesDoc("a1b2c3d4", held))
	}
	if size > 200_000 {
		t.Errorf("%d bytes, want 200,000 at most; another number of the load needs more: change this bound, and docs/scale.md", size)
	}
	t.Logf("%d bytes", size)
}

// Whatever bytes are stored, reading them gives samples that are stored in the same
// way again, or an error.
func FuzzDecodeSamples(f *testing.F) {
	f.Add(appendSamples(nil, busy(time.Now(), time.Second, 8)))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		held, err := decodeSamples(b)
		if err != nil {
			return
		}
		for i := range held {
			held[i].Load = roundedLoad(held[i].Load)
		}
		if !slices.IsSortedFunc(held, func(a, b Sample) int { return a.Time.Compare(b.Time) }) || len(held) > 0 && held[0].Time.UnixMilli() < 0 {
			return // of no process
		}
		again, err := decodeSamples(appendSamples(nil, held))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(held) {
			t.Errorf("%v, %v, want %v", again, err, held)
		}
	})
}

func FuzzDecodeLiving(f *testing.F) {
	p := Process{GPID: gpid.MustParse("10.0.0.7:8080:1795166651598985:4711"), Recent: busy(time.Now(), time.Second, maxRecent), Clock: &ClockOffset{1, 2}}
	p.Last.Time, p.End = p.Recent[maxRecent-1].Time, &End{p.Recent[maxRecent-1].Time, "done"}
	start := livingOf(&p, 3)
	f.Add(start.appendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l, again living
		if err := l.read(dataDoc("a1b2c3d4", b)); err != nil {
			return
		}
		want := l.appendTo(nil)
		if err := again.read(dataDoc("a1b2c3d4", want)); err != nil || !bytes.Equal(again.appendTo(nil), want) {
			t.Errorf("%+v, %v, want %+v", again, err, l)
		}
	})
}
