package judge

import (
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// world is a program that writes ids into a pipe, and the clock by which it does. All
// buffers are smaller by a factor than in the real world, and so is the rate.
type world struct {
	now    time.Duration // since start
	start  time.Time
	random *rand.Rand
	create func(at time.Time) (second uint32, value, counter uint64)

	every    time.Duration // between ids, on average
	next     time.Duration // when the next id is created
	batch    int           // bytes that the program writes at once
	program  []byte        // what it has not written yet
	pipe     []byte
	capacity int                  // of the pipe
	reader   func() time.Duration // how long the reader waits before it reads
	left     int                  // ids that it will create
}

const factor = 80

// run lets the program work until the world's time.
func (w *world) run() {
	for w.next <= w.now {
		if len(w.program) >= w.batch || w.left == 0 { // it writes what fits, or waits
			n := min(len(w.program), w.capacity-len(w.pipe))
			w.pipe, w.program = append(w.pipe, w.program[:n]...), w.program[n:]
			if len(w.program) > 0 || w.left == 0 {
				w.next = max(w.next, w.now)
				return
			}
		}
		second, value, counter := w.create(w.start.Add(w.next))
		w.program, _ = idOf(second, value<<24|counter%counters).AppendText(w.program)
		w.program = append(w.program, '\n')
		w.left--
		w.next += time.Duration(2 * w.random.Float64() * float64(w.every))
	}
}

func (w *world) Read(b []byte) (int, error) {
	w.now += w.reader()
	for w.run(); len(w.pipe) == 0; w.run() {
		if w.left == 0 && len(w.program) == 0 {
			return 0, io.EOF
		}
		w.now = max(w.next, w.now+time.Millisecond)
	}
	n := copy(b, w.pipe)
	w.pipe = w.pipe[n:]
	w.now += w.reader()
	return n, nil
}

// newWorld returns a program that creates ids correctly for some 8 s, with a random
// start, rate and batch.
func newWorld(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 7))
	w := &world{random: r, capacity: 64 << 10 / factor, start: time.Unix(1_800_000_000, r.Int64N(1e9))}
	w.every = time.Duration(6+r.IntN(4)) * time.Millisecond
	w.left = int(8 * time.Second / w.every)
	w.next = time.Duration(r.Int64N(3e8))
	w.batch = 1 + r.IntN(16<<10/factor)
	w.reader = func() time.Duration { return time.Duration(r.Int64N(2e6)) }
	value, counter := r.Uint64N(1<<40), r.Uint64N(counters)
	if seed%2 == 0 { // an overflow
		counter = counters - 1 - r.Uint64N(1000)
	}
	w.create = func(at time.Time) (uint32, uint64, uint64) {
		counter++
		return uint32(at.Unix()), value, counter % counters
	}
	return w
}

// judge returns the judgement on the programs.
func judgeWorlds(t *testing.T, order bool, worlds ...*world) []Result {
	t.Helper()
	var all []*Stream
	for i, w := range worlds {
		c := NewClock(Running, w.start, func() time.Time { return w.start.Add(w.now) })
		r := &Reader{Name: string(rune('a' + i)), PID: 1 + i, Want: 1 << 40, Held: HeldBytes / factor, Clock: c}
		streams, err := r.Read(w)
		if err != io.EOF {
			t.Fatal(err)
		}
		all = append(all, streams...)
	}
	return Judge(all, order)
}

func find(results []Result, p Promise) Result {
	return results[slices.IndexFunc(results, func(r Result) bool { return r.Promise == string(p) })]
}

// sound are programs that create ids as the specification demands.
var sound = map[string]func(w *world){
	"steady":        func(*world) {},
	"a slow reader": func(w *world) { w.reader = func() time.Duration { return w.every * 15 } },
	"two pipes that are full, and a slow reader": func(w *world) {
		w.capacity, w.every = 2*64<<10/factor, w.every/4
		w.reader = func() time.Duration { return time.Duration(w.random.ExpFloat64() * 1e9) }
	},
	"a reader that stalls": func(w *world) {
		w.reader = func() time.Duration {
			if w.random.IntN(40) == 0 {
				return time.Duration(w.random.Int64N(2e10))
			}
			return 0
		}
	},
	"a program that stalls": func(w *world) {
		create := w.create
		w.create = func(at time.Time) (uint32, uint64, uint64) {
			if w.random.IntN(200) == 0 {
				w.next += time.Duration(w.random.Int64N(3e9))
			}
			return create(at)
		}
	},
	"reads the clock once a second": func(w *world) {
		clocked(w, func(at, since time.Duration) time.Duration { return at.Truncate(time.Second) })
	},
	"reads a clock that is 10 ms late": func(w *world) {
		clocked(w, func(at, since time.Duration) time.Duration { return at - 10*time.Millisecond })
	},
	"counts an overflow into the second": func(w *world) {
		create, last, lead := w.create, uint64(0), uint32(0)
		w.create = func(at time.Time) (uint32, uint64, uint64) {
			second, value, counter := create(at)
			if counter < last {
				lead = second + 1
			}
			last = counter
			return max(second, lead), value, counter
		}
	},
	"a pool in random order": func(w *world) { pooled(w, 1+w.random.IntN(90)) },
}

// clocked lets a program see another time since the world began. since is the time since
// its first id.
func clocked(w *world, see func(at, since time.Duration) time.Duration) {
	create, first := w.create, time.Duration(-1)
	w.create = func(at time.Time) (uint32, uint64, uint64) {
		elapsed := at.Sub(w.start)
		if first < 0 {
			first = elapsed
		}
		return create(w.start.Add(see(elapsed, elapsed-first)))
	}
}

// pooled lets a program create ids in batches and hand them out in random order.
func pooled(w *world, size int) {
	type id struct {
		second         uint32
		value, counter uint64
	}
	var ids []id
	create := w.create
	w.create = func(at time.Time) (uint32, uint64, uint64) {
		if len(ids) == 0 {
			for range size {
				second, value, counter := create(at)
				ids = append(ids, id{second, value, counter})
			}
			w.random.Shuffle(size, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		}
		x := ids[0]
		ids = ids[1:]
		return x.second, x.value, x.counter
	}
}

// In many runs no sound program fails, and each has the same answers in all runs but for
// order, which the specification leaves open. Where ids arrive slowly, whether the clock
// goes on cannot always be told.
func TestSoundProgramsNeverFail(t *testing.T) {
	testenv.Long(t, "takes seconds")
	for kind, plant := range sound {
		answers := map[string]int{}
		for seed := range testenv.Size[uint64](200, 1000) {
			w := newWorld(seed)
			plant(w)
			results := judgeWorlds(t, false, w)
			if failed := Failed(results); failed != nil {
				t.Fatalf("%s, seed %d: %q\n%+v", kind, seed, failed, results)
			}
			var text strings.Builder
			for _, r := range results {
				if r.Promise != "order" {
					text.WriteString(r.Promise + " " + r.State + ", ")
				}
			}
			answers[text.String()]++
		}
		if !strings.Contains(kind, "stall") && !strings.Contains(kind, "slow") && len(answers) > 1 {
			t.Errorf("%s: %v", kind, answers)
		}
	}
}

// Each fault is found in each run, with its cause and without any other promise.
func TestFaultsAreFound(t *testing.T) {
	testenv.Long(t, "takes seconds")
	seconds := func(see func(at, since time.Duration) time.Duration) func(w *world) {
		return func(w *world) { clocked(w, see) }
	}
	ids := func(change func(w *world, n int, at time.Time, second *uint32, value, counter *uint64)) func(w *world) {
		return func(w *world) {
			create, n := w.create, 0
			w.create = func(at time.Time) (uint32, uint64, uint64) {
				second, value, counter := create(at)
				change(w, n, at, &second, &value, &counter)
				n++
				return second, value, counter
			}
		}
	}
	counted := func(count func(n, second, counter uint64) uint64) func(w *world) {
		inSecond, last := uint64(0), uint32(0)
		return ids(func(_ *world, n int, _ time.Time, second *uint32, _, counter *uint64) {
			if inSecond++; *second != last || n == 0 {
				inSecond, last = 0, *second
			}
			*counter = count(inSecond, uint64(*second), *counter)
		})
	}
	for _, c := range []struct {
		broken string // the first one has the cause
		cause  string
		plant  func(w *world)
	}{
		{"second", "is slow or stands still", seconds(func(at, since time.Duration) time.Duration { return at - since/2 })},
		{"second", " s behind the clock", seconds(func(at, _ time.Duration) time.Duration { return at - 8*time.Second })},
		{"second", "is slow or stands still", seconds(func(at, _ time.Duration) time.Duration {
			if at > 3500*time.Millisecond && at < 6500*time.Millisecond {
				return 3500 * time.Millisecond
			}
			return at
		})},
		{"second", "is slow or stands still", seconds(func(at, since time.Duration) time.Duration { return at - since })},
		{"second", "are handed out late", func(w *world) {
			w.next = 5 * time.Second
			clocked(w, func(at, _ time.Duration) time.Duration { return at - 5*time.Second })
		}},
		{"second", "are handed out late", func(w *world) { // from a queue that grows
			w.next = 5 * time.Second
			clocked(w, func(_, since time.Duration) time.Duration { return since / 2 })
		}},
		{"second", " s ahead of the clock", seconds(func(at, _ time.Duration) time.Duration { return at + 3500*time.Millisecond })},
		{"second", " s ahead of the clock", seconds(func(at, _ time.Duration) time.Duration { return at + 8*time.Hour })},
		{"second", " s behind the clock", seconds(func(at, _ time.Duration) time.Duration { return at - 11*time.Hour/2 })},
		{"second", " the clock", ids(func(_ *world, _ int, at time.Time, second *uint32, _, _ *uint64) { *second = uint32(at.UnixMilli()) })},
		{"second", " the clock", ids(func(_ *world, _ int, at time.Time, second *uint32, _, _ *uint64) {
			*second = uint32(at.UnixMilli() >> 12)
		})},
		{"second", " the clock", ids(func(_ *world, _ int, _ time.Time, second *uint32, _, _ *uint64) {
			*second = bits.ReverseBytes32(*second)
		})},
		{"counter-step", "steps are not by one", counted(func(_, _, counter uint64) uint64 { return uint64(bits.ReverseBytes32(uint32(counter)) >> 8) })},
		{"counter-step", "overflows at 2^23", ids(func(_ *world, n int, _ time.Time, _ *uint32, _, counter *uint64) {
			*counter = uint64(1<<23-500+n) % (1 << 23)
		})},
		{"counter-step", "the counter decreases", func(w *world) {
			w.left, w.every = pool+1, w.every/4
			ids(func(_ *world, n int, _ time.Time, _ *uint32, _, counter *uint64) { *counter = uint64(1<<23 - n) })(w)
		}},
		{"counter-step", "steps are not by one", counted(func(_, _, counter uint64) uint64 { return counter * 7 })},
		{"counter-step", "steps are not by one", ids(func(_ *world, n int, _ time.Time, _ *uint32, _, counter *uint64) { *counter = uint64(7777 + 5*n*(n+1)) })},
		{"next-second", "begins again at 9 with each second", counted(func(n, _, _ uint64) uint64 { return 9 + n })},
		{"next-second counter-start", "begins at another value", counted(func(n, second, _ uint64) uint64 { return second + n })},
		{"counter-start", "seeded with the second of the start", ids(func(w *world, n int, _ time.Time, _ *uint32, _, counter *uint64) {
			*counter = uint64(w.start.Unix() + int64(n))
		})},
		{"next-second", "begins at another value", counted(func(n, second, _ uint64) uint64 { return second*0x9E3779B1 + n })},
		{"process-value", "changes from one id", ids(func(w *world, _ int, _ time.Time, _ *uint32, value, _ *uint64) { *value = w.random.Uint64() >> 24 })},
		{"no-repeats", "created more than once", ids(func(_ *world, n int, at time.Time, _ *uint32, _, counter *uint64) { *counter -= uint64(n % 2) })},
		{"counter-start", "the counter starts at 0", ids(func(_ *world, n int, _ time.Time, _ *uint32, _, counter *uint64) { *counter = uint64(n) })},
	} {
		for seed := range testenv.Size[uint64](10, 50) {
			w := newWorld(seed)
			c.plant(w)
			results := judgeWorlds(t, false, w)
			want := strings.Fields(c.broken)
			if r := find(results, Promise(want[0])); !slices.Equal(Failed(results), want) || !strings.Contains(r.Cause, c.cause) {
				t.Errorf("want %s, %q; seed %d: %q, %+v", want, c.cause, seed, Failed(results), r)
				break
			}
		}
	}
}
