package census_test

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
)

// The populations in kindshealthy_test.go and kindsplanted_test.go were written from the
// documentation of the package, by an author who had seen neither its code nor its
// thresholds. Each kind draws its parameters from a seed.
//
//	OID_SIMULATIONS=100    populations of each kind (default 2 in "make test", else 1)
//	OID_KIND="stalls"      only the kinds whose names contain this; every failure is logged
//	OID_KIND_DUMP=DIR      write the ids of each population that fails as a list to DIR

// kindEnough is the evidence, in bits, from which a planted fault must be found. A report
// promises that one census in 2^14 has a wrong finding. Two bits more pay for the choice
// among places and among kinds of faults.
const kindEnough = 16

// kindSure is the evidence of a fault that contradicts every healthy process: for example,
// counters that return many times to where they were, each time at 24 bits less the width
// of the place to which they return.
const kindSure = 64

// kindNever is when evidence is missing.
const kindNever = 0

// kindFaults are the kinds of findings about process values.
var kindFaults = slices.DeleteFunc(slices.Clone(census.Kinds()), func(k census.Kind) bool { return k.Counts() != "processes" })

// kindOrders are the orders in which a population is read.
var kindOrders = []string{"stored", "_id"}

// kindDefinition is a kind of population.
type kindDefinition struct {
	name  string
	build func(*kindWorld)
}

// kindTruth is a planted fault.
type kindTruth struct {
	// value is the process value, or 0 if the fault concerns the report as a whole.
	value uint64
	// right are the answers of which one, and no other fault, must be given.
	right []census.Kind
	// bits is the evidence that the ids have in any order: how much less likely they are if
	// all processes are healthy.
	bits float64
}

// kindResult counts the verdicts on one kind.
type kindResult struct {
	runs int
	// What became of the planted faults.
	found, said, misnamed, silent int
	// How many of them have evidence, and what became of these.
	evident, foundEvident, silentEvident int
	// Faults and outages that were reported and were none, and healthy processes of which
	// something cannot be told.
	wrong, outages, doubted int
	// notes are the verdicts that are not right.
	notes []string
}

// kindSeeds returns how many populations of each kind are played.
func kindSeeds(t *testing.T) uint64 {
	s := os.Getenv("OID_SIMULATIONS")
	if s == "" {
		return testenv.Size[uint64](1, 2)
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		t.Fatalf("OID_SIMULATIONS: %v", err)
	}
	return n
}

// kindPlay plays all kinds and logs a table. It fails if a process value without a fault
// has one in a report, or if fewer than 99 % of the faults with evidence are found, or if
// nothing is said about one.
func kindPlay(t *testing.T, kinds []kindDefinition) {
	seeds, only := kindSeeds(t), os.Getenv("OID_KIND")
	var table strings.Builder
	fmt.Fprintf(&table, "%-46s %5s %5s %8s %5s %5s %8s %5s %6s %7s %7s\n",
		"kind", "runs", "with", "evidence", "found", "said", "misnamed", "false", "silent", "outages", "doubted")
	for _, k := range kinds {
		if !strings.Contains(k.name, only) {
			continue
		}
		var r kindResult
		for seed := range seeds {
			h := fnv.New64a()
			_, _ = h.Write([]byte(k.name))
			w := &kindWorld{Rand: rand.New(rand.NewPCG(h.Sum64(), seed))}
			k.build(w)
			for order := range kindOrders {
				before := len(r.notes)
				kindJudge(t, w, order, &r, fmt.Sprintf("%s: seed %d, order %s:", k.name, seed, kindOrders[order]))
				if dir := os.Getenv("OID_KIND_DUMP"); dir != "" && len(r.notes) > before {
					name := fmt.Sprintf("%s %d %s.txt", strings.ReplaceAll(k.name, "/", " per "), seed, kindOrders[order])
					if err := os.WriteFile(filepath.Join(dir, name), []byte(w.list(order)), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		planted := r.found + r.said + r.misnamed + r.silent
		fmt.Fprintf(&table, "%-46s %5d %5d %8d %5d %5d %8d %5d %6d %7d %7d\n",
			k.name, r.runs, planted, r.evident, r.found, r.said, r.misnamed, r.wrong, r.silent, r.outages, r.doubted)
		if r.wrong > 0 || r.outages > 0 || r.silentEvident > 0 || r.foundEvident*100 < r.evident*99 {
			t.Errorf("%s: %d of %d found where there is evidence, silent about %d; false %d, outages that were none %d",
				k.name, r.foundEvident, r.evident, r.silentEvident, r.wrong, r.outages)
		}
		if len(r.notes) > 3 && only == "" {
			r.notes = append(r.notes[:3], fmt.Sprintf("%s: %d more with OID_KIND=%q", k.name, len(r.notes)-3, k.name))
		}
		for _, n := range r.notes {
			t.Log(n)
		}
	}
	t.Log("\n" + table.String())
}

// kindJudge reads one population in one order and adds what the report says to r.
func kindJudge(t *testing.T, w *kindWorld, order int, r *kindResult, at string) {
	t.Helper()
	c := census.New(&census.Options{Format: census.FormatList, Workers: 1, Now: time.Unix(w.now(), 0)})
	defer c.Close()
	if err := c.Read(context.Background(), "ids", strings.NewReader(w.list(order))); err != nil {
		t.Fatal(err)
	}
	rep, err := c.Report(&census.ReportOptions{Top: -1})
	if err != nil {
		t.Fatal(err)
	}
	r.runs++
	note := func(format string, args ...any) { r.notes = append(r.notes, at+" "+fmt.Sprintf(format, args...)) }
	answers, said := kindAnswers(rep)
	if err := kindContradiction(rep, answers, said); err != nil {
		t.Errorf("%s %v", at, err)
	}

	// What is said of each process value, and of the report as a whole (value 0).
	planted := map[uint64]bool{}
	for _, truth := range w.truths {
		planted[truth.value] = true
		got, evident := answers[truth.value], truth.bits >= kindEnough
		right := slices.ContainsFunc(got, func(k census.Kind) bool { return slices.Contains(truth.right, k) })
		other := slices.ContainsFunc(got, func(k census.Kind) bool {
			return !slices.Contains(truth.right, k) && slices.Contains(kindFaults, k)
		})
		if evident {
			r.evident++
		}
		switch {
		case right && !other:
			r.found++
			if evident {
				r.foundEvident++
			}
			continue
		case other:
			r.misnamed++
		case said[truth.value]:
			r.said++
			if !evident {
				continue
			}
		default:
			r.silent++
			if !evident {
				continue
			}
			r.silentEvident++
		}
		note("%010x: %v, right is %v (%.0f bits), said to be in doubt: %v", truth.value, got, truth.right, truth.bits, said[truth.value])
	}
	for value := range said {
		if !planted[value] {
			r.doubted++
		}
	}
	for value, got := range answers {
		for _, k := range got {
			if value != 0 && !planted[value] || value == 0 && !planted[0] && !w.allows(k) {
				r.wrong++
				note("%010x: %v is false", value, k)
			}
		}
	}
	out := false
	for _, e := range rep.Events {
		if e.Kind == census.KindOutage && w.steady {
			r.outages++
			note("outage %v to %v is false", e.Start, e.End)
		}
		out = out || e.Kind == census.KindOutage && e.Start.Unix() < w.out[1] && e.End.Unix() > w.out[0]
		v, err := strconv.ParseUint(e.Process, 16, 64)
		if k := e.Kind; err == nil && slices.Contains(kindFaults, k) && !planted[v] && !slices.Contains(answers[v], k) {
			r.wrong++
			note("%010x: the event %v is false", v, e.Kind)
		}
	}
	if w.out[0] == 0 {
		return
	}
	r.evident++
	if out {
		r.found++
		r.foundEvident++
	} else {
		r.silent++
		r.silentEvident++
		note("no outage between %v and %v", time.Unix(w.out[0], 0).UTC(), time.Unix(w.out[1], 0).UTC())
	}
}

// kindAnswers returns what a report says about each process value, and about the ids as a
// whole as value 0; and the process values of which it says that something cannot be told.
func kindAnswers(rep *census.Report) (answers map[uint64][]census.Kind, said map[uint64]bool) {
	answers, said = map[uint64][]census.Kind{}, map[uint64]bool{}
	for _, p := range rep.TopProcesses {
		value, err := strconv.ParseUint(p.Value, 16, 64)
		if err != nil {
			panic(err)
		}
		answers[value] = append(answers[value], p.Findings...)
		if p.Doubt != "" {
			said[value] = true
		}
	}
	for _, f := range rep.Findings {
		if !slices.Contains(kindFaults, f.Kind) {
			answers[0] = append(answers[0], f.Kind)
		}
	}
	return answers, said
}

// kindContradiction returns an error if what is said of processes is not what the findings
// and the doubts of a report say, or if a finding about processes is without evidence.
func kindContradiction(rep *census.Report, answers map[uint64][]census.Kind, said map[uint64]bool) error {
	found, doubts := map[census.Kind]int64{}, int64(0)
	for _, kinds := range answers {
		for _, k := range kinds {
			found[k]++
		}
	}
	for _, f := range rep.Findings {
		if !slices.Contains(kindFaults, f.Kind) {
			continue
		}
		if f.Evidence == "" || len(f.Examples) == 0 {
			return fmt.Errorf("finding %v without evidence or examples", f.Kind)
		}
		found[f.Kind] -= f.Count
	}
	for _, k := range kindFaults {
		if found[k] != 0 {
			return fmt.Errorf("finding %v: %d more processes have it, by Process.Findings, than it says", k, found[k])
		}
	}
	for _, d := range rep.Doubts {
		if d.Reason == "" || len(d.Examples) == 0 {
			return fmt.Errorf("doubt %v: reason %q, %d examples", d.Kind, d.Reason, len(d.Examples))
		}
		doubts += d.Processes
	}
	if doubts != int64(len(said)) {
		return fmt.Errorf("%d processes in doubt, and doubts about %d", len(said), doubts)
	}
	return nil
}

// kindID is an id with the time at which it was stored, in microseconds since 1970.
type kindID struct {
	sec     uint32
	value   uint64
	counter uint32
	stored  int64
}

// String returns the id as 24 hexadecimal digits.
func (i kindID) String() string { return fmt.Sprintf("%08x%010x%06x", i.sec, i.value, i.counter) }

// kindWorld is a population while it is made. Times are in microseconds since 1970.
type kindWorld struct {
	*rand.Rand
	ids    []kindID
	edited []kindID
	truths []kindTruth
	// steady is set if nothing ever went out: events must not contain an outage.
	steady bool
	// out is an outage that was planted: when the first and the last run were due that were
	// missed, in seconds since 1970. It is zero if there is none.
	out [2]int64
}

// now returns a reference time in seconds after all ids that nobody edited.
func (w *kindWorld) now() int64 {
	last := int64(0)
	for _, i := range w.ids {
		last = max(last, int64(i.sec))
	}
	return last + 60
}

// allows reports whether a finding about the ids as a whole is right in a population in
// which none was planted.
func (w *kindWorld) allows(k census.Kind) bool {
	all := slices.Concat(w.ids, w.edited)
	switch k {
	case census.KindDuplicate:
		seen := map[kindID]bool{}
		for _, i := range all {
			i.stored = 0
			if seen[i] {
				return true
			}
			seen[i] = true
		}
		return false
	case census.KindFuture:
		return slices.ContainsFunc(all, func(i kindID) bool { return int64(i.sec) > w.now()+300 })
	case census.KindTooEarly:
		return slices.ContainsFunc(all, func(i kindID) bool { return i.sec < 1230768000 })
	}
	return false
}

// list returns the ids, one per line, in one of kindOrders.
func (w *kindWorld) list(order int) string {
	all := slices.Concat(w.ids, w.edited)
	slices.SortStableFunc(all, func(a, b kindID) int {
		if order == 0 {
			return cmp.Compare(a.stored, b.stored)
		}
		return cmp.Or(cmp.Compare(a.sec, b.sec), cmp.Compare(a.value, b.value), cmp.Compare(a.counter, b.counter))
	})
	var b strings.Builder
	for _, i := range all {
		b.WriteString(i.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// between returns a whole number from lo to hi.
func (w *kindWorld) between(lo, hi int) int { return lo + w.IntN(hi-lo+1) }

// spread returns a number from lo to hi, of which each decade is as likely as another.
func (w *kindWorld) spread(lo, hi float64) float64 {
	return math.Exp(math.Log(lo) + w.Float64()*math.Log(hi/lo))
}

// span is spread for a duration in seconds, in microseconds.
func (w *kindWorld) span(lo, hi float64) int64 { return int64(1e6 * w.spread(lo, hi)) }

// chance reports true with probability p.
func (w *kindWorld) chance(p float64) bool { return w.Float64() < p }

// start returns a time between 2013 and 2025.
func (w *kindWorld) start() int64 { return 1357000000e6 + w.Int64N(12*365*86400e6) }

// poisson returns how many independent things happened of which mean are expected.
func (w *kindWorld) poisson(mean float64) int64 {
	if mean > 50 {
		return max(0, int64(math.Round(mean+math.Sqrt(mean)*w.NormFloat64())))
	}
	n, p := int64(0), w.Float64()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= w.Float64()
	}
	return n
}

// times returns n times after from at a mean rate per second.
func (w *kindWorld) times(from int64, rate float64, n int) []int64 {
	times := make([]int64, n)
	for i := range times {
		from += int64(1e6*w.ExpFloat64()/rate) + 1
		times[i] = from
	}
	return times
}

// random returns a process value as current drivers draw it.
func (w *kindWorld) random() uint64 { return 1 + w.Uint64N(1<<40-1) }

// machine returns a process value of a machine and a small process id, as old drivers use
// it, and as it occurs again when a container starts again.
func (w *kindWorld) machine() uint64 { return 1<<36 + w.Uint64N(1<<23)<<16 + uint64(w.between(1, 500)) }

// kindAct is the creation of one id: when the clock is read, when the counter is taken and
// when the document is stored.
type kindAct struct{ read, take, store int64 }

// acts returns what happens at each of times in a program with several threads.
func (w *kindWorld) acts(times []int64) []kindAct {
	acts := make([]kindAct, len(times))
	for i, t := range times {
		take := t + int64(20*w.ExpFloat64())
		acts[i] = kindAct{t, take, take + int64(2000*w.ExpFloat64())}
	}
	return acts
}

// kindProcess generates ids. A copy of one is a snapshot.
type kindProcess struct {
	w         *kindWorld
	value     uint64
	counter   uint32
	last      int64             // when the counter was last taken
	elsewhere float64           // ids per second for other collections
	clock     func(int64) int64 // what the clock is ahead by; nil if it is right
	draw      bool              // draws each counter at random instead of counting
}

// process returns a process that starts at a time with a random counter.
func (w *kindWorld) process(value uint64, at int64, elsewhere float64) *kindProcess {
	return &kindProcess{w: w, value: value, counter: w.Uint32N(1 << 24), last: at, elsewhere: elsewhere}
}

// restart makes p start again at a time with the same process value.
func (p *kindProcess) restart(at int64) { p.counter, p.last = p.w.Uint32N(1<<24), at }

// resume makes p go on at a time as if no time had passed.
func (p kindProcess) resume(at int64) *kindProcess {
	p.last = at
	return &p
}

// run makes p create n ids after a time at a rate per second and returns when it ended.
func (p *kindProcess) run(from int64, rate float64, n int) int64 {
	times := p.w.times(from, rate, n)
	p.create(p.w.acts(times))
	return times[n-1]
}

// create makes p create ids.
func (p *kindProcess) create(acts []kindAct) {
	slices.SortFunc(acts, func(a, b kindAct) int { return cmp.Compare(a.take, b.take) })
	for _, a := range acts {
		if p.elsewhere > 0 && a.take > p.last {
			p.counter += uint32(p.w.poisson(p.elsewhere * float64(a.take-p.last) / 1e6))
		}
		p.last = max(p.last, a.take)
		if p.draw {
			p.counter = p.w.Uint32()
		}
		p.emit(a, p.counter)
		p.counter++
	}
}

// emit records an id.
func (p *kindProcess) emit(a kindAct, counter uint32) {
	if p.clock != nil {
		a.read += p.clock(a.read)
	}
	p.w.ids = append(p.w.ids, kindID{uint32(a.read / 1e6), p.value, counter & 0xffffff, a.store})
}
