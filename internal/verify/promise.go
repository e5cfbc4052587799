// Package verify judges generators of ObjectIds by the ids that they write.
//
// A [Reader] reads what one program writes, as the [Stream] of each of its processes, in
// bounded memory; [Judge] judges streams together. [Decoding] judges what a program
// answers to texts.
//
// A verdict does not depend on where a random counter starts: what happens when a counter
// overflows is judged only if the program was to write so many ids that it must.
package verify

import "cmp"

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
	unsorted  = "Sorted by _id, documents are not in the order of their creation: readers that go on after the last _id miss some."
)

// texts are the promises in words, and what it means for a user if one is broken.
var texts = map[Promise][2]string{
	NoRepeats:    {"no id repeats within a process", repeating},
	Order:        {"each id is greater than the one before", unsorted},
	CounterWrap:  {"ids increase when the counter overflows", unsorted},
	Second:       {"the second in an id is that of its creation", "Queries by time miss ids, and ids do not sort by the time of their creation."},
	ProcessValue: {"the process value stays the same", "The ids of one process cannot be recognised as such, and each new value is another chance to repeat an id."},
	OwnValue:     {"each process draws a process value of its own", "Processes with the same process value create the same ids as soon as their counters meet in a second."},
	Layout:       {"the process value is random, without host and pid", "Processes with the same host and pid have the same process value, as in containers, where most pids are 1."},
	CounterStep:  {"the counter increases by one", "Fewer than 2^24 ids fit into a second, or they repeat by chance."},
	NextSecond:   {"the counter goes on in the next second", "Ids repeat when the clock is set back."},
	CounterStart: {"the counter starts at a random value", "Processes that share a process value create the same ids from their first one on."},
	NoCopies:     {"no id repeats among processes", repeating},
	ReadsIDs:     {"ids are read as they are", "Documents are not found, or the wrong ones are."},
	RefusesText:  {"text that is not an id is refused", "A mistyped key finds nothing, or something else, instead of being reported."},
	ReadsTimes:   {"the time of an id is read as it is", "The program shows a wrong creation time for valid ids."},
}

// State is the answer for a promise.
type State string

// The answers for a promise.
const (
	Holds      State = "holds"
	Broken     State = "broken"
	CannotTell State = "cannot-tell"
)

// Result is the judgement on one promise.
type Result struct {
	Promise Promise
	Text    string // the promise in words
	State   State
	Allowed bool   // it is broken, the specification of ObjectIds allows that, and it was not asked for
	Times   int64  // how often it was broken
	Cause   string // what fits best of what breaks it, or why it cannot be told
	Example string // of how it was broken first
	Meaning string // one sentence: what it means for a user that it is broken
}

// finding is how a promise was broken: how often, the cause if that is known, and the
// first example.
type finding struct {
	times          int64
	cause, example string
}

// findings are the promises that were broken.
type findings map[Promise]finding

// add records that a promise was broken n times. The first cause and the first example
// stay.
func (f findings) add(p Promise, n int64, cause, example string) {
	if old, ok := f[p]; ok {
		n, cause, example = n+old.times, old.cause, old.example
	}
	f[p] = finding{n, cause, example}
}

// explain sets the cause of a broken promise to the first of some that is known, unless
// it has one.
func (f findings) explain(p Promise, causes ...string) {
	if b, ok := f[p]; ok {
		b.cause = cmp.Or(b.cause, cmp.Or(causes...))
		f[p] = b
	}
}

// results returns the judgement on each of the promises, in their order. hidden has the
// reason why one cannot be told unless it is broken.
func (f findings) results(promises []Promise, hidden map[Promise]string) (all []Result) {
	for _, p := range promises {
		r := Result{Promise: p, Text: texts[p][0], State: Holds}
		if b, broken := f[p]; broken {
			r.State, r.Times, r.Cause, r.Example, r.Meaning = Broken, b.times, b.cause, b.example, texts[p][1]
		} else if hidden[p] != "" {
			r.State, r.Cause = CannotTell, hidden[p]
		}
		all = append(all, r)
	}
	return all
}

// Failed returns the names of the promises that are broken and must not be.
func Failed(results []Result) (names []string) {
	for _, r := range results {
		if r.State == Broken && !r.Allowed {
			names = append(names, string(r.Promise))
		}
	}
	return names
}
