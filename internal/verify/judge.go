package verify

import (
	"cmp"
	"fmt"

	"github.com/oidkit/oid/server/wire"
)

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
func Judge(streams []*Stream, order bool) []wire.Promise {
	all := findings{}
	few, alone := "one process does not show it", "one start of the program does not show it: see --copies"
	forgotten := ""
	hidden := map[Promise]string{OwnValue: few, NoCopies: few, Layout: alone, CounterStart: alone, NextSecond: "no process created ids in two seconds"}
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
			delete(hidden, OwnValue)
			delete(hidden, NoCopies)
			if s.pid != 0 {
				delete(hidden, Layout)
				delete(hidden, CounterStart)
			}
			if s.process != o.process && s.value() == o.value() {
				all.add(OwnValue, 1, "the process value is the same", fmt.Sprintf("%s and %s: %v and %v", o.name, s.name, o.first, s.first))
			}
			o.seen.common(&s.seen, func(ids int64, first run) {
				all.add(NoCopies, ids, "", fmt.Sprintf("%s and %s: %v", o.name, s.name, idOf(first.second, first.lo)))
			})
		}
	}
	hidden[NoRepeats], hidden[NoCopies] = forgotten, cmp.Or(forgotten, hidden[NoCopies])
	for _, t := range traits {
		n, first := 0, streams[0]
		for _, s := range streams {
			if t.has(s, first) {
				n++
			}
		}
		last := streams[len(streams)-1]
		if n == len(streams) && (t.alone || last.pid != 0 && n > 1) && all[t.promise].Times == 0 {
			example := fmt.Sprintf("%s, pid %d: %v", last.name, last.pid, last.first)
			if n > 1 {
				example = fmt.Sprintf("%s, pid %d: %v; ", first.name, first.pid, first.first) + example
			}
			all.add(t.promise, int64(n), t.cause, example)
		}
	}
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
