package census_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// TestKindsHealthy plays populations without a fault: no report may contain one.
func TestKindsHealthy(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	kindPlay(t, kindsHealthy())
}

// kindBusy is a healthy process at any rate from one id an hour, with up to 50 times as
// many ids elsewhere.
func kindBusy(w *kindWorld, value uint64, at int64, n int) {
	rate, elsewhere := w.spread(1./3600, 2000), 0.
	if w.chance(.6) {
		elsewhere = min(rate*w.spread(.01, 50), 3000)
	}
	w.process(value, at, elsewhere).run(at, rate, n)
}

// kindFleet is healthy processes with random values that start within an hour.
func kindFleet(w *kindWorld, size, ids int) {
	at, rate := w.start(), w.spread(.001, 20)
	for range size {
		kindMember(w, at, rate, ids/size+1)
	}
}

func kindMember(w *kindWorld, at int64, rate float64, n int) {
	from := at + w.span(.1, 3600)
	w.process(w.random(), from, rate*w.spread(.01, 20)).run(from, rate*w.spread(.5, 2), n)
}

// kindRestarts are runs of one process value one after another, each with a new counter.
func kindRestarts(w *kindWorld, value uint64, runs int, ids, down [2]float64) {
	at, rate := w.start(), w.spread(.05, 500)
	p := w.process(value, at, rate*w.spread(.001, 5))
	for range runs {
		at = p.run(at, rate, int(w.spread(ids[0], ids[1])))
		at += w.span(down[0], down[1])
		p.restart(at)
	}
}

// kindBlocks is a driver in which each thread takes a block of counters and uses it up
// before it takes the next.
func kindBlocks(w *kindWorld, at int64, size uint32, n int) int64 {
	threads := w.between(2, 16)
	next, left := make([]uint32, threads), make([]uint32, threads)
	keep, skew := w.spread(.1, 1), w.chance(.5)
	rate := w.spread(.1, 500)
	p := w.process(w.machine(), at, 0)
	for _, a := range w.acts(w.times(at, rate/keep, int(float64(n)/keep))) {
		i := w.IntN(threads)
		if skew {
			i = w.IntN(i + 1)
		}
		if left[i] == 0 {
			next[i], left[i] = p.counter, size
			p.counter += size
		}
		if w.chance(keep) {
			p.emit(a, next[i])
		}
		next[i]++
		left[i]--
		at = a.read
	}
	return at
}

// kindStalls is a process with threads that stall for 2 to 58 s once in 1,000 ids, between
// reading the clock and taking the counter or, as in pymongo, after taking the counter.
func kindStalls(w *kindWorld, counterFirst bool, elsewhere float64) {
	at, n := w.start(), w.between(1000, 4000)
	p := w.process(w.random(), at, elsewhere)
	acts := w.acts(w.times(at, w.spread(1, 200), n))
	for i := range acts {
		if i != n/2 && !w.chance(.001) {
			continue
		}
		a, stall := &acts[i], w.span(2, 58)
		a.store += stall
		if counterFirst {
			a.read += stall
		} else {
			a.take += stall
		}
	}
	p.create(acts)
}

// kindMixed is a healthy population of one of several kinds.
func kindMixed(w *kindWorld) {
	switch w.IntN(4) {
	case 0:
		kindBusy(w, w.random(), w.start(), w.between(50, 3000))
	case 1:
		kindFleet(w, w.between(2, 16), w.between(500, 3000))
	case 2:
		kindRestarts(w, w.machine(), w.between(2, 20), [2]float64{20, 200}, [2]float64{.2, 86400})
	case 3:
		kindStalls(w, w.chance(.5), w.spread(.1, 1000))
	}
}

// kindNewestFirst turns the stored order round, as an export does that begins with the
// newest document.
func kindNewestFirst(w *kindWorld) {
	end := w.now() * 1e6
	for i := range w.ids {
		w.ids[i].stored = 2*end - w.ids[i].stored
	}
}

// kindSample is a sample of a fleet with restarts.
func kindSample(w *kindWorld, share float64) {
	n := min(int(w.spread(200, 2000)/share), 60000)
	if w.chance(.5) {
		kindFleet(w, w.between(1, 16), n)
	} else {
		kindRestarts(w, w.machine(), w.between(2, 10), [2]float64{float64(n) / 20, float64(n) / 5}, [2]float64{.2, 86400})
	}
	w.ids = slices.DeleteFunc(w.ids, func(kindID) bool { return !w.chance(share) })
}

// kindSchedule returns when the runs of a job are due.
func kindSchedule(w *kindWorld, every string) (due []int64) {
	n := map[string]int{
		"hourly": w.between(240, 720), "daily": w.between(40, 200), "weekly": w.between(30, 150),
		"monthly": w.between(24, 60), "working day": w.between(60, 300),
	}[every]
	day := time.UnixMicro(w.start()).UTC().Truncate(24 * time.Hour)
	day = time.Date(day.Year(), day.Month(), 1, w.IntN(24), w.IntN(60), 0, 0, time.UTC)
	for ; len(due) < n; day = kindNext(day, every) {
		if every != "working day" || day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			due = append(due, day.UnixMicro())
		}
	}
	return due
}

func kindNext(t time.Time, every string) time.Time {
	switch every {
	case "hourly":
		return t.Add(time.Hour)
	case "weekly":
		return t.AddDate(0, 0, 7)
	case "monthly":
		return t.AddDate(0, 1, 0)
	}
	return t.AddDate(0, 0, 1)
}

// kindJob is a job that creates some ids in each run, with a new process value or with the
// same one and a new counter.
func kindJob(w *kindWorld, due []int64, sameValue bool) {
	late, most, rate := w.spread(.1, 200), w.between(3, 40), w.spread(.5, 50)
	p := w.process(w.machine(), due[0], rate*w.spread(.001, 2))
	for _, at := range due {
		at += w.span(.01, late)
		p.restart(at)
		n := w.between(1, most)
		if !sameValue {
			p.value = w.random()
			n++ // one id for each process value is a fault
		}
		p.run(at, rate, n)
	}
}

// kindEdit adds ids that were typed: seconds that are words, before the other bytes of ids
// that exist, and examples from documentation.
func kindEdit(w *kindWorld) {
	words := []uint32{0xbad87fee, 0xdeadbeef, 0xffffffff, 0xcafebabe, 0xc0ffee00, 0xdecafbad, 0x0badcafe, 0}
	for range w.between(1, 6) {
		i := w.ids[w.IntN(len(w.ids))]
		i.sec = words[w.IntN(len(words))]
		if w.chance(.3) {
			i.counter = w.Uint32N(4)
		}
		w.edited = append(w.edited, i)
	}
	for range w.between(0, 3) {
		at := w.ids[w.IntN(len(w.ids))].stored
		w.edited = append(w.edited, kindID{0x507f1f77, 0xbcf86cd799, 0x439011, at})
		if w.chance(.5) {
			w.edited = append(w.edited, kindID{0x507f1f77, 0xbcf86cd799, 0x439012, at}, kindID{0x507f191e, 0x810c19729d, 0xe860ea, at})
		}
	}
}

// kindsHealthy returns the kinds without a fault.
func kindsHealthy() []kindDefinition {
	kinds := []kindDefinition{
		{"steady", func(w *kindWorld) {
			w.steady = true
			kindBusy(w, w.random(), w.start(), w.between(50, 3000))
		}},
		{"bursty", func(w *kindWorld) {
			at, rate := w.start(), w.spread(50, 3000)
			p := w.process(w.random(), at, w.spread(.01, 100))
			for range w.between(5, 40) {
				at = p.run(at+w.span(1, 86400), rate, w.between(5, 150))
			}
		}},
		{"restarts at once", func(w *kindWorld) {
			kindRestarts(w, w.machine(), w.between(2, 30), [2]float64{20, 200}, [2]float64{.2, 20})
		}},
		{"restarts within a second", func(w *kindWorld) {
			kindRestarts(w, w.machine(), w.between(2, 20), [2]float64{20, 200}, [2]float64{.01, .9})
		}},
		{"restarts hours or days later", func(w *kindWorld) {
			kindRestarts(w, w.machine(), w.between(2, 15), [2]float64{20, 400}, [2]float64{3600, 864000})
		}},
		{"few long runs", func(w *kindWorld) {
			kindRestarts(w, w.machine(), w.between(2, 4), [2]float64{2000, 8000}, [2]float64{.2, 864000})
		}},
		{"crash loop", func(w *kindWorld) {
			kindRestarts(w, w.machine(), w.between(30, 300), [2]float64{1, 20}, [2]float64{1, 300})
		}},
		{"crash loop of thousands of runs", func(w *kindWorld) {
			kindRestarts(w, w.machine(), w.between(1000, 3000), [2]float64{1, 4}, [2]float64{1, 300})
		}},
		{"200 machines that restart", func(w *kindWorld) {
			for range 200 {
				kindRestarts(w, w.machine(), w.between(1, 10), [2]float64{1, 15}, [2]float64{.5, 86400})
			}
		}},
		{"fleet in a crash loop", func(w *kindWorld) {
			kindFleet(w, w.between(2, 8), 1000)
			for range w.between(2, 6) {
				kindRestarts(w, w.machine(), w.between(10, 60), [2]float64{1, 30}, [2]float64{.5, 60})
			}
		}},
		{"deployments", func(w *kindWorld) {
			at, rate, size := w.start(), w.spread(.005, 20), w.between(2, 8)
			for range w.between(3, 10) {
				for range size {
					w.process(w.random(), at, rate).run(at+w.span(.1, 60), rate, w.between(20, 60))
				}
				at += int64(60 / rate * 1e6)
			}
		}},
		{"fleet", func(w *kindWorld) { kindFleet(w, w.between(2, 64), w.between(1500, 4000)) }},
		{"fleet of machines that restart", func(w *kindWorld) {
			for range w.between(2, 12) {
				kindRestarts(w, w.machine(), w.between(1, 6), [2]float64{20, 80}, [2]float64{.2, 86400})
			}
		}},
		{"many threads at a high rate", func(w *kindWorld) {
			at := w.start()
			acts := w.acts(w.times(at, w.spread(500, 8000), w.between(2000, 5000)))
			for i := range acts {
				acts[i].take += w.span(1e-5, .02)
				acts[i].store = acts[i].take + w.span(1e-4, .5)
			}
			w.process(w.random(), at, w.spread(.1, 10000)).create(acts)
		}},
		{"stalls before the counter", func(w *kindWorld) { kindStalls(w, false, 0) }},
		{"stalls before the counter, busy elsewhere", func(w *kindWorld) { kindStalls(w, false, w.spread(1, 3000)) }},
		{"stalls after the counter", func(w *kindWorld) { kindStalls(w, true, 0) }},
		{"stalls after the counter, busy elsewhere", func(w *kindWorld) { kindStalls(w, true, w.spread(1, 3000)) }},
		{"pauses of all threads", func(w *kindWorld) {
			at, threads := w.start(), w.between(2, 16)
			p := w.process(w.random(), at, w.spread(.01, 500))
			acts := w.acts(w.times(at, w.spread(2, 300), w.between(1000, 4000)))
			for from := at; from < acts[len(acts)-1].take; {
				from += w.span(5, 200)
				end := from + w.span(.3, 20)
				for i := range acts {
					if acts[i].read >= from && acts[i].read < end {
						acts[i] = w.acts([]int64{end + w.span(1e-5, .1)})[0]
					}
				}
				for range w.between(0, threads) {
					acts = append(acts, kindAct{from - w.Int64N(1000), end + w.Int64N(1000), end + w.Int64N(9000)})
				}
				from = end
			}
			p.create(acts)
		}},
		{"read in no order", func(w *kindWorld) {
			kindMixed(w)
			w.Shuffle(len(w.ids), func(i, j int) { w.ids[i].stored, w.ids[j].stored = w.ids[j].stored, w.ids[i].stored })
		}},
		{"read with the newest first", func(w *kindWorld) {
			kindMixed(w)
			kindNewestFirst(w)
		}},
		{"read shard by shard", func(w *kindWorld) {
			kindMixed(w)
			shards := w.Int64N(4) + 2
			for i := range w.ids {
				w.ids[i].stored = w.ids[i].stored/2 + w.Int64N(shards)<<51
			}
		}},
		{"bursts elsewhere", func(w *kindWorld) {
			at, rate := w.start(), w.spread(.01, 50)
			p := w.process(w.random(), at, rate*w.spread(.01, 10))
			for range w.between(2, 20) {
				at = p.run(at, rate, w.between(10, 200))
				p.counter += uint32(w.spread(1e4, 1e7))
			}
		}},
		{"rate of day and night", func(w *kindWorld) {
			at, rate := w.start(), w.spread(.01, 5)
			p := w.process(w.random(), at, 0)
			for range w.between(20, 60) {
				p.elsewhere = rate * w.spread(1, 300)
				at = p.run(at, rate*w.spread(.02, 1), w.between(10, 100))
			}
		}},
		{"stored late in batches", func(w *kindWorld) {
			at, rate := w.start(), w.spread(.05, 100)
			for range w.between(1, 8) {
				first, batch := len(w.ids), w.span(10/rate, 400/rate)
				w.process(w.random(), at, rate*w.spread(.01, 10)).run(at, rate, w.between(200, 800))
				for i := range w.ids[first:] {
					id := &w.ids[first+i]
					id.stored = (id.stored/batch+1)*batch + int64(i)
				}
			}
		}},
		{"imports", func(w *kindWorld) {
			kindFleet(w, w.between(1, 4), 1500)
			end := w.now()*1e6 - w.span(60, 600)
			for range w.between(1, 3) {
				first := len(w.ids)
				kindBusy(w, w.random(), w.start()-3*365*86400e6, w.between(100, 800))
				for i := range w.ids[first:] {
					w.ids[first+i].stored = end + int64(i)*50
				}
			}
			share := w.spread(.01, .3) // documents that were lost and inserted again
			for i := range w.ids {
				if w.chance(share) {
					w.ids[i].stored = end + 1e6 + int64(i)*50
				}
			}
		}},
		{"mass deletions", func(w *kindWorld) {
			kindFleet(w, w.between(1, 8), 8000)
			share, kept := w.spread(.01, .5), w.IntN(3)
			lo, hi := w.ids[w.IntN(len(w.ids))].sec, w.ids[w.IntN(len(w.ids))].sec
			w.ids = slices.DeleteFunc(w.ids, func(i kindID) bool {
				inside := i.sec >= min(lo, hi) && i.sec < max(lo, hi)
				return kept == 0 && inside || kept == 1 && i.sec < lo && !w.chance(share) || kept == 2 && !w.chance(share)
			})
			if len(w.ids) == 0 {
				kindBusy(w, w.random(), w.start(), 10)
			}
		}},
		{"wraps", func(w *kindWorld) {
			at, rate, n := w.start(), w.spread(.01, 1000), w.between(500, 3000)
			p := w.process(w.random(), at, rate*w.spread(.01, 20))
			p.counter = 1<<24 - uint32(w.between(1, n))
			p.run(at, rate, n)
		}},
		{"many wraps elsewhere", func(w *kindWorld) {
			at := w.start()
			w.process(w.random(), at, w.spread(1000, 5000)).run(at, w.spread(.3, 2), w.between(2000, 5000))
		}},
		{"sparse, busy elsewhere", func(w *kindWorld) {
			for range w.between(1, 4) {
				at := w.start()
				w.process(w.random(), at, w.spread(100, 5000)).run(at, w.spread(1./3600, 1./20), w.between(20, 600))
			}
		}},
		{"sparse with restarts, busy elsewhere", func(w *kindWorld) {
			at := w.start()
			p := w.process(w.machine(), at, w.spread(10, 3000))
			for range w.between(2, 20) {
				at = p.run(at, w.spread(1./3600, 1./20), w.between(2, 50)) + w.span(1, 86400)
				p.restart(at)
			}
		}},
		{"suspended for days", func(w *kindWorld) {
			at, rate := w.start(), w.spread(.01, 100)
			p := w.process(w.random(), at, rate*w.spread(.01, 5))
			for range w.between(2, 8) {
				at = p.run(at, rate, w.between(50, 300)) + w.span(3600, 864000)
				p.last = at
			}
		}},
		{"clock corrected by less than a second", func(w *kindWorld) {
			at, rate, n := w.start(), w.spread(1, 500), w.between(1000, 4000)
			p, every := w.process(w.random(), at, rate*w.spread(.01, 10)), max(int64(3e6), int64(float64(n)/rate*1e5))
			ahead := int64(w.between(5e4, 9e5))
			p.clock = func(t int64) int64 { return (t - at) % every * ahead / every } // drifts, then is set
			p.run(at, rate, n)
		}},
		{"leap seconds", func(w *kindWorld) {
			at, rate, n := w.start(), w.spread(1, 200), w.between(1000, 4000)
			p, every := w.process(w.random(), at, rate*w.spread(.01, 10)), int64(float64(n)/rate*3e5)
			p.clock = func(t int64) int64 { return -(t - at) / every * 1e6 }
			p.run(at, rate, n)
		}},
		{"clock set forwards", func(w *kindWorld) {
			at, rate, n := w.start(), w.spread(.5, 100), w.between(500, 2000)
			p, behind := w.process(w.random(), at, rate*w.spread(.01, 5)), w.span(1, 36000)
			step := at + int64(float64(n)/rate*w.Float64()*1e6)
			p.clock = func(t int64) int64 {
				if t < step {
					return -behind
				}
				return 0
			}
			p.run(at, rate, n)
		}},
		{"several drivers", func(w *kindWorld) {
			at := w.start()
			for range w.between(1, 4) {
				kindBusy(w, w.random(), at+w.span(1, 86400), w.between(30, 500))
				kindBusy(w, w.machine(), at+w.span(1, 86400), w.between(30, 500))
				p := w.process(w.machine(), at, 0) // counts from 0 in each process
				p.counter = 0
				p.run(at, w.spread(.01, 10), w.between(10, 300))
			}
			kindRestarts(w, w.machine(), w.between(2, 6), [2]float64{10, 100}, [2]float64{1, 86400})
			kindBlocks(w, at, uint32(w.between(2, 200)), 300)
		}},
		{"edited by hand", func(w *kindWorld) {
			kindFleet(w, w.between(1, 5), w.between(100, 2000))
			kindEdit(w)
		}},
		{"restarts, edited by hand", func(w *kindWorld) {
			kindRestarts(w, w.machine(), w.between(2, 10), [2]float64{20, 100}, [2]float64{1, 86400})
			kindEdit(w)
		}},
		{"blocks of 100 with restarts", func(w *kindWorld) {
			at, value := w.start(), w.machine()
			for range w.between(2, 5) {
				first := len(w.ids)
				at = kindBlocks(w, at, 100, w.between(100, 800)) + w.span(1, 86400)
				for i := range w.ids[first:] {
					w.ids[first+i].value = value
				}
			}
		}},
		{"blocks of 100 in a fleet, sample of 10 %", func(w *kindWorld) {
			at := w.start()
			for range w.between(2, 6) {
				kindBlocks(w, at, 100, w.between(500, 3000))
			}
			w.ids = slices.DeleteFunc(w.ids, func(kindID) bool { return !w.chance(.1) })
		}},
		{"stalls in a fleet", func(w *kindWorld) {
			for range w.between(2, 6) {
				kindStalls(w, w.chance(.5), w.spread(.1, 1000))
			}
		}},
		{"stalls, sample of 10 %", func(w *kindWorld) {
			for range w.between(2, 6) {
				kindStalls(w, w.chance(.5), w.spread(.1, 100))
			}
			w.ids = slices.DeleteFunc(w.ids, func(kindID) bool { return !w.chance(.1) })
		}},
		{"jobs with one id in each run", func(w *kindWorld) {
			due := kindSchedule(w, "hourly")
			p := w.process(w.machine(), due[0], 0)
			for _, at := range due {
				p.restart(at + w.span(.1, 600))
				p.run(p.last, 10, 1)
			}
		}},
		{"short runs with new values", func(w *kindWorld) {
			at := w.start()
			for range w.between(50, 400) {
				at += w.span(1, 3600)
				w.process(w.random(), at, w.spread(.01, 10)).run(at, w.spread(.1, 20), w.between(2, 15))
			}
		}},
	}
	for _, size := range []uint32{10, 100, 1000, 10000} {
		kinds = append(kinds, kindDefinition{fmt.Sprintf("blocks of %d", size), func(w *kindWorld) { kindBlocks(w, w.start(), size, w.between(1000, 4000)) }})
	}
	for _, percent := range []int{1, 10, 50} {
		kinds = append(kinds, kindDefinition{fmt.Sprintf("sample of %d %%", percent), func(w *kindWorld) { kindSample(w, float64(percent)/100) }})
	}
	for _, every := range []string{"hourly", "daily", "weekly", "monthly", "working day"} {
		for _, value := range []string{"new values", "same value"} {
			kinds = append(kinds, kindDefinition{every + " job, " + value, func(w *kindWorld) {
				w.steady = true
				kindJob(w, kindSchedule(w, every), value == "same value")
			}})
		}
	}
	return kinds
}
