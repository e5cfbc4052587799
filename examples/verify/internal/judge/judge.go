// Package judge judges generators of ObjectIds by the ids that they write.
//
// A [Reader] reads what one program writes, as the [Stream] of each of its processes, in
// bounded memory; [Judge] judges streams together. [Decode] judges what a program answers
// to texts.
//
// A verdict does not depend on where a random counter starts: what happens when a counter
// overflows is judged only if so many ids were read that it must have.
package judge

import (
	"cmp"
	"fmt"
	"slices"
)

// Promise is something that users of a generator rely on, by its name.
type Promise string

// The promises, in the order of a report.
const (
	NoRepeats    Promise = "no-repeats"
	Order        Promise = "order"
	CounterWrap  Promise = "counter-wrap"
	Second       Promise = "second"
	ProcessValue Promise = "process-value"
	OwnValue     Promise = "own-value"
	Layout       Promise = "layout"
	CounterStep  Promise = "counter-step"
	NextSecond   Promise = "next-second"
	CounterStart Promise = "counter-start"
	NoCopies     Promise = "no-repeats-among-processes"
	ReadsIDs     Promise = "reads-ids"
	RefusesText  Promise = "refuses-other-text"
	ReadsTimes   Promise = "reads-times"
)

const (
	repeating = "Inserts fail with E11000, or an upsert overwrites another document."
	unsorted  = "Sorted by _id, documents are not in the order of their creation: readers that go on after the last _id may miss some."
)

// promiseTexts are the promises in words, and what it means for a user if one is broken.
var promiseTexts = map[Promise][2]string{
	NoRepeats:    {"no id repeats within a process", repeating},
	Order:        {"each id is greater than the one before", unsorted},
	CounterWrap:  {"ids increase when the counter overflows", unsorted},
	Second:       {"the second in an id is that of its creation", "Queries by time miss ids, and ids do not sort by the time of their creation."},
	ProcessValue: {"the process value stays the same", "The ids of one process cannot be recognised as such, and each new value is another chance to repeat an id."},
	OwnValue:     {"each process draws a process value of its own", "Processes with the same process value create the same ids as soon as their counters meet in a second."},
	Layout:       {"the process value is random, without host and pid", "Processes with the same pid, in containers often 1, differ in three bytes at most, usually the host's."},
	CounterStep:  {"the counter increases by one", "Fewer than 2^24 ids fit into a second, or they repeat by chance."},
	NextSecond:   {"the counter goes on in the next second", "Ids repeat when the clock is set back."},
	CounterStart: {"the counter starts at a random value", "Processes that share a process value, and start in the same second, create the same ids."},
	NoCopies:     {"no id repeats among processes", repeating},
	ReadsIDs:     {"ids are read as they are", "Documents are not found, or the wrong ones are."},
	RefusesText:  {"text that is not an id is refused", "A mistyped key finds nothing, or something else, instead of being reported."},
	ReadsTimes:   {"the time of an id is read as it is", "The program shows a wrong creation time for valid ids."},
}

// The answers for a promise.
const (
	Holds      = "holds"
	Broken     = "broken"
	CannotTell = "cannot-tell"
)

// findings are the promises that were broken.
type findings map[Promise]Result

// add records that a promise was broken n times. The first cause and the first example
// stay.
func (f findings) add(p Promise, n int64, cause, example string) {
	b, ok := f[p]
	if !ok {
		b = Result{State: Broken, Cause: cause, Example: example, Meaning: promiseTexts[p][1]}
	}
	b.Times += n
	f[p] = b
}

// explain sets the cause of a broken promise to the first of some that is known, unless
// it has one.
func (f findings) explain(p Promise, causes ...string) {
	if b, ok := f[p]; ok {
		b.Cause = cmp.Or(b.Cause, cmp.Or(causes...))
		f[p] = b
	}
}

// results returns the judgement on each of the promises, in their order. hidden has the
// reason why one cannot be told unless it is broken.
func (f findings) results(promises []Promise, hidden map[Promise]string) (all []Result) {
	for _, p := range promises {
		r, ok := f[p]
		switch {
		case ok:
		case hidden[p] != "":
			r.State, r.Cause = CannotTell, hidden[p]
		default:
			r.State = Holds
		}
		r.Promise, r.Text = string(p), promiseTexts[p][0]
		all = append(all, r)
	}
	return all
}

// Failed returns the names of the promises that are broken and must not be.
func Failed(results []Result) (names []string) {
	for _, r := range results {
		if r.State == Broken && !r.Allowed {
			names = append(names, r.Promise)
		}
	}
	return names
}

// maxStartup is how many seconds before its first id a process may have set its counter.
const maxStartup = 10

// traits are what breaks a promise if all processes that start the program have it. alone:
// one process shows it; by chance one of a million does.
var traits = []struct {
	promise Promise
	cause   string
	alone   bool
	has     func(s, first *Stream) bool
}{
	{CounterStart, "the counter starts at 0", true, func(s, _ *Stream) bool { return s.start() <= 1 }},
	{CounterStart, "the counter is seeded with the second of the start", true, func(s, _ *Stream) bool {
		age := uint64(s.first.Time().Unix()) - s.start()
		return (age+1)%counters <= maxStartup+1 // it may count before it creates an id
	}},
	{CounterStart, "all processes start with the same counter", false, func(s, first *Stream) bool { return s.start() == first.start() }},
	{Layout, "the process value has the pid", false, func(s, _ *Stream) bool { return uint16(s.value()) == uint16(s.pid) }},
	{Layout, "the first three bytes of the process value are the same", false, func(s, first *Stream) bool {
		return s.value()>>16 == first.value()>>16 && (s == first || s.value() != first.value())
	}},
}

// Judge returns the judgement on the streams of processes that ran the same program.
// Order is a promise if it was asked for.
func Judge(streams []*Stream, order bool) []Result {
	all := findings{}
	forgotten := ""
	hidden := map[Promise]string{NextSecond: "no process created ids in two seconds"}
	if few := "one process does not show it"; len(streams) == 1 {
		hidden[OwnValue], hidden[NoCopies] = few, few
	}
	if alone := "one start of the program does not show it: see --copies"; len(streams) == 1 || streams[0].pid == 0 {
		hidden[Layout], hidden[CounterStart] = alone, alone
	}
	for i, s := range streams {
		s.end()
		for p, f := range s.found {
			all.add(p, f.Times, f.Cause, f.Example)
		}
		hidden[Second] = cmp.Or(hidden[Second], s.pace.unseen(s.clock))
		if s.ids < counters {
			hidden[CounterWrap] = fmt.Sprintf("whether the counter overflows in so few ids, and after which value, is chance; it does in --ids %d", counters)
		}
		if s.seen.forgotten {
			forgotten = fmt.Sprintf("no repeat among the last ids of %s; earlier ones are forgotten, because there are more than %d gaps between them", s.name, maxRuns/2)
		}
		if s.counter.seconds > 0 {
			delete(hidden, NextSecond)
		}
		for _, o := range streams[:i] {
			all.addShared(o, s)
		}
	}
	if all[OwnValue].Times > 0 {
		hidden[Layout] = cmp.Or(hidden[Layout], "processes have the same process value")
	}
	hidden[NoRepeats], hidden[NoCopies] = forgotten, cmp.Or(forgotten, hidden[NoCopies])
	all.addTraits(streams)
	if b, ok := all[CounterWrap]; ok && hidden[CounterWrap] != "" {
		hidden[CounterWrap] += "; it did here, and ids decreased: " + b.Example
		delete(all, CounterWrap)
	}
	if all[CounterStep].Times > 0 {
		hidden[NextSecond] = "the counter does not increase by one"
	}
	cause := cmp.Or(all[CounterStep].Cause, all[NextSecond].Cause, all[Second].Cause)
	all.explain(NoRepeats, cause, "ids are created more than once")
	all.explain(Order, cause, "ids are not handed out in the order of their creation")
	all.explain(NoCopies, all[OwnValue].Cause, "processes create the same ids")
	results := all.results([]Promise{
		NoRepeats, Order, CounterWrap, Second, ProcessValue, OwnValue, Layout, CounterStep, NextSecond, CounterStart, NoCopies,
	}, hidden)
	for i := range results[1:3] { // order, and order at an overflow
		results[i+1].Allowed = results[i+1].State == Broken && !order
	}
	return results
}

// addShared adds what two streams, which have ended, have in common.
func (f findings) addShared(o, s *Stream) {
	if s.process != o.process && s.value() == o.value() {
		f.add(OwnValue, 1, "the process value is the same", fmt.Sprintf("%s and %s: %v and %v", o.name, s.name, o.first, s.first))
	}
	o.seen.common(&s.seen, func(ids int64, first run) {
		f.add(NoCopies, ids, "", fmt.Sprintf("%s and %s: %v", o.name, s.name, idOf(first.second, first.lo)))
	})
}

// addTraits adds the traits that all streams have.
func (f findings) addTraits(streams []*Stream) {
	first, last := streams[0], streams[len(streams)-1]
	for _, t := range traits {
		if slices.ContainsFunc(streams, func(s *Stream) bool { return !t.has(s, first) }) || f[t.promise].Times > 0 {
			continue
		}
		example := fmt.Sprintf("%s, pid %d: %v", last.name, last.pid, last.first)
		switch several := len(streams) > 1; {
		case several && (t.alone || last.pid != 0):
			example = fmt.Sprintf("%s, pid %d: %v; ", first.name, first.pid, first.first) + example
		case !t.alone:
			continue
		}
		f.add(t.promise, int64(len(streams)), t.cause, example)
	}
}
