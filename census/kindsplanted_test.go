package census_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
)

// TestKindsPlanted plays populations with faults: each one with evidence must be found
// under its name, and nothing else.
func TestKindsPlanted(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	kindPlay(t, kindsPlanted())
}

// plant says that a process value has a fault, with so many bits of evidence.
func (w *kindWorld) plant(value uint64, bits float64, right ...census.Kind) {
	w.truths = append(w.truths, kindTruth{value, right, bits})
}

// kindReturn is the evidence, in bits, that a counter begins by chance within so many
// counters.
func kindReturn(counters float64) float64 { return 24 - math.Log2(max(1, counters)) }

// kindRestored is a virtual machine whose snapshot is restored some times, one restore after
// another, days later. Before the snapshot it creates some ids, after it and after each
// restore the given number.
//
// Evidence: each restore after the first begins where that began, within the ids elsewhere
// between two ids. The first begins there too if the snapshot was taken before the first id;
// otherwise somewhere within the ids of the original.
func kindRestored(w *kindWorld, value uint64, before, ids, restores int) {
	at, rate := w.start(), w.spread(.1, 10)
	perID := w.spread(.01, 2)
	p := w.process(value, at, rate*perID)
	if before > 0 {
		at = p.run(at, rate, before)
	}
	snapshot := p.resume(at)
	at = p.run(at, rate, ids)
	for range restores {
		at += int64(10*86400e6) + w.span(1, 86400)
		at = snapshot.resume(at).run(at, rate, ids)
	}
	bits := float64(restores) * kindReturn(4*(1+perID))
	if before > 0 {
		bits -= kindReturn(4*(1+perID)) - kindReturn((1+perID)*float64(before+2*ids))
	}
	w.plant(value, bits, census.KindResumed)
}

// kindPulses is a clock that is an hour ahead during 20 of every 120 ids.
//
// Evidence: an hour later, a counter begins in a hole of 20 counters and ends with it.
func kindPulses(w *kindWorld, value uint64, pulses, after int) {
	at := w.start()
	p := w.process(value, at, 0)
	pulse := int64(20 * 1e6)
	p.clock = func(t int64) int64 {
		if n := (t - at) / (6 * pulse); n < int64(pulses) && (t-at)%(6*pulse) >= 5*pulse {
			return 3600e6
		}
		return 0
	}
	n := 120*pulses + 100
	times := make([]int64, n+after)
	for i := range times {
		times[i] = at + int64(i)*1e6 + w.Int64N(9e5)
	}
	p.create(w.acts(times))
	w.plant(value, kindReturn(20), census.KindClockStep)
}

// kindBack is a clock that is set back by d seconds in the middle of a process's life.
//
// Evidence: in the order of _id the ids before and after the step overlap for d seconds, at
// least 40 on each side: two sequences at once, each of which returns to its counter at
// every change between them. They are one process, and not two with one value, because the
// second begins where the first ends, within the ids elsewhere between two ids. In stored
// order the first sequence ends before the second begins, too, which no two processes that
// run at once do.
func kindBack(w *kindWorld, value uint64, d, elsewhere float64) {
	// In d seconds: so many that at most 4,000 counters are used elsewhere between two, or
	// at most 2,200.
	ids := float64(w.between(40, 200)) + min(elsewhere*d/4000, 2000)
	rate := ids / d
	at, n := w.start(), int(ids*w.spread(1.2, 2.5))
	p := w.process(value, at, elsewhere*w.spread(.8, 1.2))
	step := at + int64(float64(n)/rate*1e6)
	p.clock = func(t int64) int64 {
		if t < step {
			return 0
		}
		return -int64(d * 1e6)
	}
	p.run(at, rate, 2*n+int(ids))
	bits := float64(kindSure)
	if kindReturn(2+2*elsewhere/rate) < 10 {
		bits = kindNever // likely a clock step, but two processes are as good a name
	}
	w.plant(value, bits, census.KindClockStep)
}

// kindStaircase is a clock that runs ahead and is set right again and again.
//
// Evidence: as for kindBack, at each step, of at least 10 ids.
func kindStaircase(w *kindWorld, value uint64, steps int) {
	at, rate := w.start(), w.spread(.5, 2)
	every := int64(w.between(100, 300)) * 1e6
	p, ahead := w.process(value, at, rate*w.spread(.01, 5)), int64(w.between(20e6, 60e6))
	p.clock = func(t int64) int64 {
		if (t-at)/every > int64(steps) {
			return 0
		}
		return (t - at) % every * ahead / every
	}
	p.run(at, rate, int(rate*float64(every)/1e6*float64(steps+2)))
	w.plant(value, kindSure, census.KindClockStep)
}

// kindAhead is a process that starts while the clock is ahead by a minute to a day.
//
// Evidence: the ids that come later begin where the first ones, some 20 of them or more,
// end, and nothing else does.
func kindAhead(w *kindWorld, value uint64) {
	at, rate, n, perID := w.start(), w.spread(.2, 5), w.between(20, 200), w.spread(.01, 8)
	p, step, ahead := w.process(value, at, rate*perID), int64(0), w.span(60, 86400)
	times := w.times(at, rate, n+w.between(500, 2000))
	step = times[n]
	p.clock = func(t int64) int64 {
		if t < step {
			return ahead
		}
		return 0
	}
	p.create(w.acts(times))
	w.plant(value, kindReturn(2+2*perID), census.KindClockStep)
}

// kindHosts is one process value on several hosts at once, with ids/2 to 3/2 ids of each run.
//
// Evidence: the ids change between hosts all the time, and each time return to a counter.
// There is none if all hosts begin, by chance, within 160,000 counters of the first: this may
// be one process with 16 threads that take blocks of 10,000.
func kindHosts(w *kindWorld, value uint64, hosts, ids, restarts int, right ...census.Kind) {
	at, rate, elsewhere := w.start(), w.spread(1./600, 5), w.spread(.01, 5)
	first, near := uint32(0), true
	for i := range hosts {
		p, from := w.process(value, at, rate*elsewhere), at
		if i == 0 {
			first = p.counter
		}
		near = near && (p.counter-first+160_000)&0xffffff <= 320_000
		for range w.between(1, 1+restarts) {
			from = p.run(from, rate*w.spread(.7, 1.4), ids/2+w.IntN(ids)) + 1e6
			p.restart(from)
		}
	}
	if len(right) == 0 {
		right = []census.Kind{census.KindSharedValue}
	}
	bits := float64(kindSure)
	if near {
		bits = kindNever
	}
	w.plant(value, bits, right...)
}

// kindForks is a process that forks, so that all its children count from the same number.
//
// Evidence: counters that are used by each child, at nearly the same time. That these are
// counters that were used again is as true as that the value is shared.
func kindForks(w *kindWorld, value uint64, children int) {
	at, rate := w.start(), w.spread(.01, 2)
	parent := w.process(value, at, rate*w.spread(.01, 3))
	if n := w.IntN(50); n > 0 {
		at = parent.run(at, rate, n)
	}
	for range children {
		parent.resume(at).run(at, rate*w.spread(.5, 2), w.between(50, 200))
	}
	w.plant(value, kindSure, census.KindSharedValue, census.KindResumed)
}

// kindRandom is a program that draws its counters.
//
// Evidence, if it creates more than one id a second: at least a fifth of the ids are in the
// same second as another, with a counter elsewhere, and no process restarts so fast. If it
// creates one a minute or less, each may be from a run of its own: a job is like this.
func kindRandom(w *kindWorld, n int, rate, bits float64) {
	at, value := w.start(), w.random()
	p := w.process(value, at, 0)
	p.draw = true
	p.run(at, rate, n)
	w.plant(value, bits, census.KindNoSequence)
}

// kindCron is a job whose counter begins at the same number in each run, with a gap in
// seconds between runs from lo to hi.
//
// Evidence: each run begins where the first began.
func kindCron(w *kindWorld, value uint64, runs, ids int, lo, hi float64) {
	at, rate := w.start(), w.spread(1, 20)
	p := w.process(value, at, 0)
	if w.chance(.5) {
		p.counter = 0
	}
	for range runs {
		at = p.resume(at).run(at, rate, ids) + w.span(lo, hi)
	}
	w.plant(value, float64(runs-1)*kindReturn(2*float64(ids)), census.KindResumed)
}

// kindOutage is a job that misses some of its runs in a row.
//
// Evidence: a job that never missed one of n runs misses one with a chance of about 1/n, and
// two in a row nowhere among them, with a chance of 1-1/n. More in a row are rarer yet.
func kindOutage(w *kindWorld, every string, lo, hi int) {
	due := kindSchedule(w, every)
	missed := w.between(lo, hi)
	first := len(due)/3 + w.IntN(len(due)/3)
	w.out = [2]int64{due[first] / 1e6, due[first+missed-1] / 1e6}
	kindJob(w, append(due[:first:first], due[first+missed:]...), w.chance(.5))
}

// kindsPlanted returns the kinds with a fault.
func kindsPlanted() []kindDefinition {
	var kinds []kindDefinition
	add := func(name string, build func(*kindWorld)) { kinds = append(kinds, kindDefinition{name, build}) }
	fleet := func(w *kindWorld) { // healthy processes beside the fault
		for range w.between(2, 8) {
			kindMember(w, w.ids[0].stored, w.spread(.01, 5), w.between(50, 300))
		}
	}

	for _, n := range []int{900, 1100, 2000, 20000} {
		add(fmt.Sprintf("restored once, %d ids from its start", n), func(w *kindWorld) { kindRestored(w, w.random(), 0, n, 1) })
	}
	for _, n := range []int{10, 200, 900, 1100, 2000, 20000} {
		add(fmt.Sprintf("restored once in mid-life, %d ids", n), func(w *kindWorld) { kindRestored(w, w.random(), w.between(n/2, n), n, 1) })
	}
	for _, n := range []int{1, 2, 3, 4, 6, 10, 50} {
		add(fmt.Sprintf("%d restores, 200 ids after each", n), func(w *kindWorld) { kindRestored(w, w.random(), w.between(0, 50), 200, n) })
	}
	add("200 restores, 10 ids after each", func(w *kindWorld) { kindRestored(w, w.random(), w.between(0, 50), 10, 200) })
	add("3 restores in a fleet", func(w *kindWorld) {
		kindRestored(w, w.random(), w.between(0, 50), 200, 3)
		fleet(w)
	})
	add("daily job from the same counter", func(w *kindWorld) { kindCron(w, w.machine(), w.between(20, 60), w.between(5, 100), 86000, 86400) })
	add("hourly job from the same counter", func(w *kindWorld) { kindCron(w, w.machine(), w.between(100, 500), w.between(1, 8), 3500, 3600) })
	add("500 resumes of 3 ids", func(w *kindWorld) { kindCron(w, w.random(), 500, 3, 10, 3600) })
	add("50 resumes of 3 ids", func(w *kindWorld) { kindCron(w, w.random(), 50, 3, 10, 86400) })
	add("5 resumes of 3 ids", func(w *kindWorld) { kindCron(w, w.random(), 5, 3, 10, 86400) })
	add("500 resumes at once", func(w *kindWorld) {
		at := w.start()
		p := w.process(w.random(), at, 0)
		for range 500 {
			at += w.span(.1, 20)
			p.resume(at).run(at, w.spread(.1, 1), 3)
		}
		w.plant(p.value, kindSure, census.KindResumed, census.KindSharedValue)
	})

	for _, n := range []int{1, 2, 3, 6, 7, 8, 20, 40} {
		add(fmt.Sprintf("flapping clock, pulses: %d", n), func(w *kindWorld) { kindPulses(w, w.random(), n, 0) })
	}
	add("flapping clock, pulses: 8, later none", func(w *kindWorld) { kindPulses(w, w.random(), 8, 3*3600) })
	add("flapping clock, pulses: 7, in a fleet", func(w *kindWorld) {
		kindPulses(w, w.random(), 7, 0)
		fleet(w)
	})
	for _, d := range []struct {
		name    string
		seconds float64
	}{{"5 s", 5}, {"10 s", 10}, {"60 s", 60}, {"an hour", 3600}, {"a day", 86400}} {
		for _, elsewhere := range []int{0, 100, 1000} {
			add(fmt.Sprintf("clock back by %s, %d/s elsewhere", d.name, elsewhere), func(w *kindWorld) {
				kindBack(w, w.random(), d.seconds, float64(elsewhere))
			})
			add(fmt.Sprintf("clock back by %s, %d/s elsewhere, fleet", d.name, elsewhere), func(w *kindWorld) {
				kindBack(w, w.random(), d.seconds, float64(elsewhere))
				fleet(w)
			})
		}
	}
	add("clock of each host of a fleet back by 60 s", func(w *kindWorld) {
		for range w.between(2, 6) {
			kindBack(w, w.random(), 60, w.spread(1, 100))
		}
	})
	add("staircase of 3 to 20 steps", func(w *kindWorld) { kindStaircase(w, w.random(), w.between(3, 20)) })
	add("staircase of 60 steps", func(w *kindWorld) { kindStaircase(w, w.random(), 60) })
	add("starts ahead", func(w *kindWorld) { kindAhead(w, w.random()) })
	add("starts ahead in a fleet", func(w *kindWorld) {
		kindAhead(w, w.random())
		fleet(w)
	})

	for _, n := range []int{2, 4, 8} {
		add(fmt.Sprintf("one value on %d hosts", n), func(w *kindWorld) { kindHosts(w, w.random(), n, 70, 0) })
	}
	for _, n := range []int{16, 32, 64, 128} {
		// So many hosts may also be named as counters that do not count.
		add(fmt.Sprintf("one value on %d hosts", n), func(w *kindWorld) {
			kindHosts(w, w.random(), n, 50, 0, census.KindSharedValue, census.KindNoSequence)
		})
	}
	add("one value on 2 hosts, 20 to 60 ids of each", func(w *kindWorld) { kindHosts(w, w.random(), 2, 40, 0) })
	add("one value on 2 hosts, 10 to 30 ids of each", func(w *kindWorld) { kindHosts(w, w.random(), 2, 20, 0) })
	add("one value on 4 hosts that restart", func(w *kindWorld) { kindHosts(w, w.machine(), 4, 70, 4) })
	add("one value on 4 hosts in a fleet", func(w *kindWorld) {
		kindHosts(w, w.random(), 4, 70, 0)
		fleet(w)
	})
	add("one value on 4 hosts, sample of 10 %", func(w *kindWorld) {
		kindHosts(w, w.random(), 4, 1000, 0)
		kindTake(w, .1)
	})
	add("two values, each on 3 hosts", func(w *kindWorld) {
		kindHosts(w, w.random(), 3, 70, 0)
		kindHosts(w, w.random(), 3, 70, 0)
	})
	for _, n := range []int{2, 4, 8} {
		add(fmt.Sprintf("forks into %d", n), func(w *kindWorld) { kindForks(w, w.random(), n) })
	}

	add("3000 random counters", func(w *kindWorld) { kindRandom(w, 3000, w.spread(2, 50), kindSure) })
	add("500 random counters", func(w *kindWorld) { kindRandom(w, 500, w.spread(2, 50), kindSure) })
	add("50 random counters", func(w *kindWorld) { kindRandom(w, 50, w.spread(2, 50), kindSure) })
	add("500 random counters, one a minute to an hour", func(w *kindWorld) { kindRandom(w, 500, w.spread(1./3600, 1./60), kindNever) })
	add("random counters in a fleet", func(w *kindWorld) {
		kindRandom(w, 1000, w.spread(2, 50), kindSure)
		fleet(w)
	})
	// A server that starts a process for each request, or function, creates the same ids.
	for _, k := range []struct {
		name         string
		lo, hi, bits float64
	}{{"process value per id", 2, 100, kindNever}, {"process value per id, one a minute to an hour", 1. / 3600, 1. / 60, kindNever}} {
		add(k.name, func(w *kindWorld) {
			for _, t := range w.times(w.start(), w.spread(k.lo, k.hi), w.between(300, 3000)) {
				w.process(w.random(), t, 0).create(w.acts([]int64{t}))
			}
			w.plant(0, k.bits, census.KindValuePerID)
		})
	}
	add("duplicates", func(w *kindWorld) {
		kindFleet(w, w.between(1, 8), w.between(300, 2000))
		for range w.between(1, 20) {
			i := w.ids[w.IntN(len(w.ids))]
			i.stored += w.span(.001, 1000)
			w.ids = append(w.ids, i)
		}
		w.plant(0, kindSure, census.KindDuplicate)
	})

	add("restored, and the clock set back", func(w *kindWorld) {
		value := w.random()
		kindRestored(w, value, 0, 200, 2)
		kindBackLater(w, value)
	})
	add("shared, and the clock of one host set back", func(w *kindWorld) {
		value := w.random()
		kindHosts(w, value, 3, 100, 0)
		kindBackLater(w, value)
	})
	add("shared by 2 hosts, later random counters", func(w *kindWorld) {
		value, at := w.random(), w.start()+20*365*86400e6/4
		p := w.process(value, at, 0)
		p.draw = true
		p.run(at, 10, 500)
		for range 2 {
			w.process(value, at+3600e6, 0).run(at+3600e6, 1, 200)
		}
		w.plant(value, kindSure, census.KindSharedValue, census.KindNoSequence)
	})
	add("3 restores, sample of 10 %", func(w *kindWorld) {
		kindRestored(w, w.random(), 0, 2000, 3)
		kindTake(w, .1)
	})
	add("clock back by 60 s, newest first", func(w *kindWorld) {
		kindBack(w, w.random(), 60, w.spread(1, 100))
		kindNewestFirst(w)
	})
	add("one value on 4 hosts, newest first", func(w *kindWorld) {
		kindHosts(w, w.random(), 4, 70, 0)
		kindNewestFirst(w)
	})
	add("3 restores, newest first", func(w *kindWorld) {
		kindRestored(w, w.random(), w.between(0, 50), 200, 3)
		kindNewestFirst(w)
	})
	add("clock back by an hour, sample of 10 %", func(w *kindWorld) {
		at, value := w.start(), w.random()
		p := w.process(value, at, 0)
		p.clock = func(t int64) int64 {
			if t > at+7200e6 {
				return -3600e6
			}
			return 0
		}
		p.run(at, 1, 4*3600)
		kindTake(w, .1)
		w.plant(value, kindReturn(2*20), census.KindClockStep)
	})

	add("outage of an hourly job", func(w *kindWorld) { kindOutage(w, "hourly", 2, 10) })
	add("outage of a daily job", func(w *kindWorld) { kindOutage(w, "daily", 3, 10) })
	add("outage of a job on working days", func(w *kindWorld) { kindOutage(w, "working day", 3, 10) })
	add("outage of a weekly job", func(w *kindWorld) { kindOutage(w, "weekly", 4, 8) })
	return kinds
}

// kindTake leaves a share of the ids.
func kindTake(w *kindWorld, share float64) {
	kept := w.ids[:0]
	for _, i := range w.ids {
		if w.chance(share) {
			kept = append(kept, i)
		}
	}
	w.ids = kept
}

// kindBackLater adds a run of a process value that already has a fault, a day after all
// others, in which the clock is set back by 100 s. Either fault is then right.
func kindBackLater(w *kindWorld, value uint64) {
	at := (w.now() + 86400) * 1e6
	p := w.process(value, at, 0)
	p.clock = func(t int64) int64 {
		if t > at+150e6 {
			return -100e6
		}
		return 0
	}
	p.run(at, 1, 400)
	for i := range w.truths {
		w.truths[i].right = append(w.truths[i].right, census.KindClockStep)
	}
}
