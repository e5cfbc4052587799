package objectid_test

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
)

var layouts = []objectid.Layout{objectid.Modern, objectid.Classic, objectid.Java}

// frozen is the time that a stopped clock shows.
var frozen = time.Date(2026, 11, 20, 12, 0, 0, 999_999_999, time.UTC)

func newGenerator(t *testing.T, o *objectid.Options) *objectid.Generator {
	t.Helper()
	g, err := objectid.NewGenerator(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// More ids in one second of a stopped clock than a counter of 3 bytes has values.
func TestFrozenClock(t *testing.T) {
	withoutRace(t)
	n := size(17_000_000, 40_000_000)
	for _, layout := range layouts {
		t.Run(layout.String(), func(t *testing.T) {
			g := newGenerator(t, &objectid.Options{Layout: layout, Now: func() time.Time { return frozen }})
			var last objectid.ID
			check := func(id objectid.ID) {
				if id.Compare(last) <= 0 {
					t.Fatalf("%v after %v", id, last)
				}
				last = id
			}
			buf := make([]objectid.ID, 10_000)
			for made := 0; made < n; made += len(buf) + 1000 {
				g.Fill(buf)
				for _, id := range buf {
					check(id)
				}
				for range 1000 {
					check(g.New())
				}
				lead := last.Time().Sub(frozen.Truncate(time.Second))
				if lead != g.Lead() {
					t.Fatalf("%v leads by %v, but Lead() = %v", last, lead, g.Lead())
				}
				// A Java counter of 4 bytes wraps once at the most, a Classic
				// one of 3 bytes in every 2^24 ids.
				if most := map[objectid.Layout]int{objectid.Java: 1, objectid.Classic: 1 + made>>24}[layout]; lead > time.Duration(most)*time.Second {
					t.Fatalf("%v leads by %v after %d ids", last, lead, made)
				}
			}
		})
	}
}

// The counter rises by one with every id and goes on from second to second; the
// rest of the process value stays, or is back with the next second.
func TestCounter(t *testing.T) {
	withoutRace(t)
	for _, layout := range layouts {
		t.Run(layout.String(), func(t *testing.T) {
			now := frozen
			g := newGenerator(t, &objectid.Options{Layout: layout, Now: func() time.Time { return now }})
			width := map[objectid.Layout]int{objectid.Java: 4}[layout]
			if width == 0 {
				width = 3
			}
			counter := func(id objectid.ID) uint64 {
				var b [8]byte
				copy(b[8-width:], id[objectid.Size-width:])
				return binary.BigEndian.Uint64(b[:])
			}
			first := g.New()
			want := counter(first)
			buf := make([]objectid.ID, 1<<24-1)
			for range 2 {
				want += uint64(len(buf)) + 1
				g.Fill(buf) // a counter of 3 bytes wraps in all but one case of 2^24
				buf = buf[:len(buf)/16]
				now = now.Add(time.Minute)
				id := g.New()
				if got := counter(id); got != want&(1<<(8*width)-1) {
					t.Fatalf("counter %#x after %#x ids, want %#x", got, len(buf), want&(1<<(8*width)-1))
				}
				if !bytes.Equal(id[4:objectid.Size-width], first[4:objectid.Size-width]) {
					t.Fatalf("process value of %v differs from that of %v in a new second", id, first)
				}
				if !id.Time().Equal(now.Truncate(time.Second)) {
					t.Fatalf("%v carries %v at %v", id, id.Time(), now)
				}
			}
		})
	}
}

func TestClockThatJumps(t *testing.T) {
	for _, layout := range layouts {
		t.Run(layout.String(), func(t *testing.T) {
			const workers, each = 8, 50_000
			start := frozen.Unix()
			g := newGenerator(t, &objectid.Options{Layout: layout, Now: func() time.Time {
				return time.Unix(start+rand.Int64N(7200)-3600, rand.Int64N(1e9))
			}})
			made := make([][]objectid.ID, workers)
			var wg sync.WaitGroup
			for w := range made {
				wg.Add(1)
				go func() {
					defer wg.Done()
					ids := make([]objectid.ID, each)
					for i := 0; i < each; {
						if i%100 == 50 {
							g.Fill(ids[i : i+50])
							i += 50
						} else {
							ids[i] = g.New()
							i++
						}
					}
					made[w] = ids
				}()
			}
			wg.Wait()
			for _, ids := range made {
				if !slices.IsSortedFunc(ids, objectid.ID.Compare) {
					t.Error("a goroutine saw its own ids fall")
				}
			}
			noRepeat(t, slices.Concat(made...))
		})
	}
}

func noRepeat(t *testing.T, ids []objectid.ID) {
	t.Helper()
	slices.SortFunc(ids, objectid.ID.Compare)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			t.Fatalf("%v was made twice", ids[i])
		}
	}
}

// An id that another goroutine has already got is smaller than one asked for
// afterwards.
func TestOrderBetweenGoroutines(t *testing.T) {
	var latest atomic.Pointer[objectid.ID]
	latest.Store(&objectid.ID{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100_000 {
				before := latest.Load()
				id := objectid.New()
				if id.Compare(*before) <= 0 {
					t.Errorf("%v was asked for after %v had been returned", id, *before)
					return
				}
				latest.CompareAndSwap(before, &id)
			}
		}()
	}
	wg.Wait()
}

// The machine's clock is taken to be steady for the two seconds that this takes.
func TestSecondIsTrue(t *testing.T) {
	resolution := time.Duration(0)
	if runtime.GOOS == "js" {
		resolution = time.Millisecond // of the clock of JavaScript
	}
	stop := time.Now().Add(2200 * time.Millisecond)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			buf := make([]objectid.ID, 1+w)
			for time.Now().Before(stop) {
				asked := time.Now().Add(-resolution).Unix()
				objectid.Fill(buf)
				id := objectid.New()
				returned := time.Now().Unix()
				for _, id := range append(buf, id) {
					if s := id.Time().Unix(); s < asked || s > returned {
						t.Errorf("%v carries %d, asked for in %d, returned in %d", id, s, asked, returned)
						return
					}
				}
			}
		}()
	}
	wg.Wait()
	if ahead := newGenerator(t, nil).Lead(); ahead != 0 {
		t.Errorf("a generator without ids: Lead() = %v", ahead)
	}
}

// Where the counter overflows, the ids of a second lead the clock, unless the layout has
// room for more. The process value at random has room for 2^30 ids at least.
func TestSecondOfAnOverflow(t *testing.T) {
	last := uint32(math.MaxUint32)
	for layout, want := range map[objectid.Layout]time.Duration{objectid.Modern: 0, objectid.Classic: time.Second, objectid.Java: time.Second} {
		g := newGenerator(t, &objectid.Options{Layout: layout, Counter: &last, Now: func() time.Time { return frozen }})
		before, after := g.New(), g.New()
		if lead := after.Time().Sub(frozen.Truncate(time.Second)); lead != want || g.Lead() != want || !before.Time().Equal(frozen.Truncate(time.Second)) {
			t.Errorf("%v: %v, and after the overflow %v, which leads by %v, want %v", layout, before, after, lead, want)
		}
	}
}

func TestClockOutsideOfTheSeconds(t *testing.T) {
	// All Classic generators of a process have one counter. Its end is not reached here:
	// the last second of all has no successor.
	ids := make([]objectid.ID, 1<<16)
	for first := &ids[0]; first[9] == 0 || first[9] >= 0x80; {
		newGenerator(t, &objectid.Options{Layout: objectid.Classic}).Fill(ids)
	}
	for _, layout := range layouts {
		for _, c := range []struct {
			now  time.Time
			want string
		}{
			{time.Time{}, "1970-01-01T00:00:00Z"},
			{time.Date(1969, 12, 31, 23, 59, 59, 999, time.UTC), "1970-01-01T00:00:00Z"},
			{time.Unix(-1<<62, 0), "1970-01-01T00:00:00Z"},
			{time.Date(2106, 2, 7, 6, 28, 15, 0, time.UTC), "2106-02-07T06:28:15Z"},
			{time.Date(2106, 2, 7, 6, 28, 16, 0, time.UTC), "2106-02-07T06:28:15Z"},
			{time.Unix(1<<62, 0), "2106-02-07T06:28:15Z"},
		} {
			g := newGenerator(t, &objectid.Options{Layout: layout, Now: func() time.Time { return c.now }})
			last := g.New()
			for range 1000 {
				id := g.New()
				if id.Compare(last) <= 0 || id.Time().Format(time.RFC3339) != c.want {
					t.Fatalf("%v clock at %v: %v (%v) after %v, want %v", layout, c.now, id, id.Time(), last, c.want)
				}
				last = id
			}
			if ahead := g.Lead(); ahead != 0 {
				t.Errorf("%v clock at %v: Lead() = %v", layout, c.now, ahead)
			}
		}
	}
}

// Where the last second of all is used up there are no ids left, and saying so is
// better than repeating one.
func TestEndOfTime(t *testing.T) {
	g := newGenerator(t, &objectid.Options{Layout: objectid.Classic, Now: func() time.Time { return time.Unix(1<<40, 0) }})
	buf := make([]objectid.ID, 1<<16)
	last := objectid.ID{}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	for range 1<<8 + 1 {
		g.Fill(buf)
		if buf[0].Compare(last) <= 0 {
			t.Fatalf("%v after %v", buf[0], last)
		}
		last = buf[len(buf)-1]
	}
}

func TestLayouts(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	machine := md5.Sum([]byte(host))
	classic := newGenerator(t, &objectid.Options{Layout: objectid.Classic}).New()
	if !bytes.Equal(classic[4:7], machine[:3]) || binary.BigEndian.Uint16(classic[7:]) != uint16(os.Getpid()) {
		t.Errorf("classic id %v on host %q (md5 %x) in process %d", classic, host, machine, os.Getpid())
	}
	a := newGenerator(t, &objectid.Options{Layout: objectid.Java}).New()
	b := newGenerator(t, &objectid.Options{Layout: objectid.Java}).New()
	if !bytes.Equal(a[4:6], b[4:6]) {
		t.Errorf("java ids %v and %v of one machine differ in its bytes", a, b)
	}
	upper := map[byte]int{}
	blocks := map[[4]byte]bool{}
	for range 10_000 {
		id := newGenerator(t, nil).New()
		upper[id[8]]++
		blocks[[4]byte(id[4:8])] = true
	}
	if len(upper) < 185 || slices.Max(slices.Collect(maps.Keys(upper))) > 191 {
		t.Errorf("fifth bytes of 10,000 generators: %v, want 192 different ones from 0 to 191", upper)
	}
	if len(blocks) < 9_990 {
		t.Errorf("10,000 generators have only %d different blocks", len(blocks))
	}
	for _, l := range layouts {
		text, err := l.MarshalText()
		var back objectid.Layout
		if err != nil || back.UnmarshalText(text) != nil || back != l {
			t.Errorf("%v came back as %v, %v", l, back, err)
		}
	}
	back := objectid.Java
	if err := back.UnmarshalText([]byte("Modern")); err == nil || back != objectid.Java {
		t.Errorf("a layout called Modern: %v, left %v", err, back)
	}
	if text, err := objectid.Layout(3).MarshalText(); err == nil || objectid.Layout(3).String() != "Layout(3)" {
		t.Errorf("layout 3 has the text %q and is printed as %v", text, objectid.Layout(3))
	}
}

func TestBlock(t *testing.T) {
	withoutRace(t)
	block := [4]byte{0xde, 0xad, 0xbe, 0xef}
	g := newGenerator(t, &objectid.Options{Block: &block, Now: func() time.Time { return frozen }})
	buf := make([]objectid.ID, 1<<20)
	g.Fill(buf)
	if !bytes.Equal(buf[0][4:9], append(block[:], 0)) {
		t.Errorf("first id %v, want the process value deadbeef00", buf[0])
	}
	for range 32 { // past two wraps of the counter
		g.Fill(buf)
		if id := buf[len(buf)-1]; !bytes.Equal(id[4:8], block[:]) || !id.Time().Equal(frozen.Truncate(time.Second)) {
			t.Fatalf("%v (%v) is outside of the block or of the second", id, id.Time())
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	for _, c := range []*objectid.Options{
		{Layout: 3},
		{Layout: objectid.Classic, Block: new([4]byte)},
		{Layout: objectid.Java, Block: new([4]byte)},
	} {
		if g, err := objectid.NewGenerator(c); err == nil || g != nil {
			t.Errorf("NewGenerator(%+v) = %v, %v, want an error", c, g, err)
		}
	}
}

// withoutRace skips a test that makes millions of ids and in which no goroutines share
// a generator. "make test" runs it without the race detector. Other packages have this
// from testenv; the tests here import the standard library alone.
func withoutRace(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("runs without the race detector")
	}
}

// size returns how much a test does: whole by "make test", and small in "go test ./...". It
// is testenv.Size.
func size(small, whole int) int {
	if os.Getenv("OID_REQUIRE_ALL") == "1" {
		return whole
	}
	return small
}

// needsProcesses skips a test in WebAssembly, where no process can be started.
func needsProcesses(t *testing.T) {
	if runtime.GOARCH == "wasm" {
		t.Skip("WebAssembly starts no processes")
	}
}

const makerEnv = "OBJECTID_TEST_MAKE_IDS"

// 64 processes, started together, each wait for a line on stdin and then make ids.
func TestProcesses(t *testing.T) {
	withoutRace(t)
	needsProcesses(t)
	const processes = 64
	each := size(20_000, 100_000)
	var wg sync.WaitGroup
	made := make([][]objectid.ID, processes)
	start := make(chan struct{})
	var ready sync.WaitGroup
	ready.Add(processes)
	for p := range made {
		wg.Add(1)
		go func() {
			defer wg.Done()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", makerEnv, each))
			cmd.Stderr = os.Stderr
			in, inErr := cmd.StdinPipe()
			out, outErr := cmd.StdoutPipe()
			err := cmd.Start()
			ready.Done()
			if inErr != nil || outErr != nil || err != nil {
				t.Error(inErr, outErr, err)
				return
			}
			<-start
			in.Close()
			b, err := io.ReadAll(out)
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if err != nil || len(b) != each*objectid.Size {
				t.Errorf("process %d wrote %d bytes: %v", p, len(b), err)
				return
			}
			for chunk := range slices.Chunk(b, objectid.Size) {
				made[p] = append(made[p], objectid.ID(chunk))
			}
		}()
	}
	ready.Wait()
	close(start)
	wg.Wait()
	noRepeat(t, slices.Concat(made...))
}

func TestMain(m *testing.M) {
	var each int
	if _, err := fmt.Sscan(os.Getenv(makerEnv), &each); err != nil {
		os.Exit(m.Run())
	}
	io.Copy(io.Discard, os.Stdin)
	w := bufio.NewWriter(os.Stdout)
	ids := make([]objectid.ID, each/2)
	objectid.Fill(ids)
	for range each - len(ids) {
		ids = append(ids, objectid.New())
	}
	for _, id := range ids {
		w.Write(id[:])
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
