// Package verify judges generators of ObjectIds by the ids that they write.
//
// A [Stream] takes the ids of one process in the order in which it wrote them, in
// bounded memory. [Copies] and [Fork] judge the streams of several processes
// together, and [Decode] judges what a program answers to texts.
package verify

import "slices"

// Promise is something that users of a generator rely on.
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
	CounterStart Promise = "counter-start"
	NoCopies     Promise = "no-repeats-among-copies"
	OwnInChild   Promise = "own-value-after-fork"
	NoForks      Promise = "no-repeats-after-fork"
	ReadsIDs     Promise = "reads-ids"
	RefusesText  Promise = "refuses-other-text"
	ReadsTimes   Promise = "reads-times"
)

// texts are the promises in words.
var texts = map[Promise]string{
	NoRepeats:    "no id repeats within a process",
	Order:        "each id is greater than the one before",
	CounterWrap:  "ids increase when the counter overflows",
	Second:       "the second in an id is that of the clock",
	ProcessValue: "the process value stays the same",
	OwnValue:     "each process draws a process value of its own",
	Layout:       "the process value is random, without host and pid",
	CounterStep:  "the counter increases by one",
	CounterStart: "the counter starts at a random value",
	NoCopies:     "no id repeats among processes",
	OwnInChild:   "a child draws a process value of its own after a fork",
	NoForks:      "no id repeats among parent and children",
	ReadsIDs:     "ids are read as they are",
	RefusesText:  "text that is not an id is refused",
	ReadsTimes:   "the time of an id is read as it is",
}

// Text returns the promise in words.
func (p Promise) Text() string { return texts[p] }

// State is whether a promise was kept.
type State string

// The states of a promise. Unseen: the ids did not show it.
const (
	Holds  State = "holds"
	Broken State = "broken"
	Unseen State = "unseen"
)

// Result is the judgement on one promise.
type Result struct {
	Promise Promise
	State   State
	Count   int64  // how often it was broken
	Example string // of how it was broken first
	Meaning string // one sentence: what that means for a user, or why it is unseen
}

// breach is a way to break a promise. Each has one sentence on what it means.
type breach struct {
	promise Promise
	meaning string
}

// found are the breaches that were found, with how often and the first example.
type found map[breach]*Result

// add records n breaches.
func (f found) add(b breach, n int64, example string) {
	r := f[b]
	if r == nil {
		r = &Result{Promise: b.promise, State: Broken, Example: example, Meaning: b.meaning}
		f[b] = r
	}
	r.Count += n
}

// merge adds what other has found.
func (f found) merge(other found) {
	for b, r := range other {
		f.add(b, r.Count, r.Example)
	}
}

// results returns the judgement on each of the promises, in their order. unseen has a
// reason for those that the ids did not show, if nothing broke them.
func (f found) results(promises []Promise, unseen map[Promise]string) (all []Result) {
	for _, p := range promises {
		var broken []Result
		for b, r := range f {
			if b.promise == p {
				broken = append(broken, *r)
			}
		}
		slices.SortFunc(broken, func(a, b Result) int { return int(b.Count - a.Count) })
		switch reason, hidden := unseen[p]; {
		case broken != nil:
			all = append(all, broken...)
		case hidden:
			all = append(all, Result{Promise: p, State: Unseen, Meaning: reason})
		default:
			all = append(all, Result{Promise: p, State: Holds})
		}
	}
	return all
}
