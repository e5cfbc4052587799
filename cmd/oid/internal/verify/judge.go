package verify

import (
	"cmp"
	"fmt"
	"slices"

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
