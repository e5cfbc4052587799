// Package verify judges generators of ObjectIds by the ids that they write.
//
// A [Reader] reads what one program writes, as the [Stream] of each of its processes, in
// bounded memory; [Judge] judges streams together. [Decoding] judges what a program
// answers to texts.
//
// A verdict does not depend on where a random counter starts: what happens when a counter
// overflows is judged only if so many ids were read that it must have.
package verify

import (
	"cmp"

	"github.com/oidkit/oid/server/wire"
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
	Layout:       {"the process value is random, without host and pid", "Processes with the same host and pid have the same process value, as in containers, where many have pid 1."},
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
type findings map[Promise]wire.Promise

// add records that a promise was broken n times. The first cause and the first example
// stay.
func (f findings) add(p Promise, n int64, cause, example string) {
	b, ok := f[p]
	if !ok {
		b = wire.Promise{State: Broken, Cause: cause, Example: example, Meaning: promiseTexts[p][1]}
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
func (f findings) results(promises []Promise, hidden map[Promise]string) (all []wire.Promise) {
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
func Failed(results []wire.Promise) (names []string) {
	for _, r := range results {
		if r.State == Broken && !r.Allowed {
			names = append(names, r.Promise)
		}
	}
	return names
}
