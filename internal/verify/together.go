package verify

import (
	"encoding/binary"
	"fmt"

	"github.com/oidkit/oid/objectid"
)

// The breaches among several processes.
var (
	sharedValue = breach{OwnValue, "Processes with the same process value create the same ids as soon as their counters meet in a second."}
	hostAndPID  = breach{Layout, "Processes with the same host and pid have the same process value, as in containers, where most pids are 1."}
	sameStart   = breach{CounterStart, "Processes that share a process value create the same ids from their first one on."}
	amongCopies = breach{NoCopies, "Two processes create the same id: inserts fail with E11000, or an upsert overwrites another document."}

	childValue   = breach{OwnInChild, "A child goes on with the process value of its parent, as the workers of a server that forks do: they create the same ids as soon as their counters meet in a second."}
	amongForks   = breach{NoForks, "Parent and child create the same id: inserts fail with E11000, or an upsert overwrites another document."}
	childChanges = breach{ProcessValue, "After a fork each id has another process value: the ids of a process cannot be recognised as such, and each is another chance to repeat an id."}
)

// ofStream are the promises that each stream shows.
var ofStream = []Promise{NoRepeats, Order, CounterWrap, Second, ProcessValue}

// Copies ends the streams of processes that ran the same program and returns the
// judgement on all of them.
func Copies(streams []*Stream) []Result {
	all, unseen := together(streams)
	promises := append(ofStream[:len(ofStream):len(ofStream)], OwnValue, Layout, CounterStep, CounterStart, NoCopies)
	if len(streams) < 2 {
		for _, p := range []Promise{OwnValue, Layout, CounterStart, NoCopies} {
			unseen[p] = "one process does not show it: give --copies 2 or more"
		}
		return all.results(promises, unseen)
	}
	pids, machines, same := 0, 0, 0
	for i, s := range streams {
		for _, o := range streams[:i] {
			if s.value() == o.value() {
				all.add(sharedValue, 1, fmt.Sprintf("%s and %s: %v and %v", o.name, s.name, o.first, s.first))
			}
			o.seen.common(&s.seen, func(r repeat) {
				all.add(amongCopies, r.ids, fmt.Sprintf("id %d of %s is id %d of %s: %v", r.first, o.name, r.again, s.name, words(r.second, r.low)))
			})
		}
		if s.pid != 0 && s.value()&0xFFFF == uint64(s.pid)&0xFFFF {
			pids++
		}
		if s.value()>>16 == streams[0].value()>>16 && s.value() != streams[0].value() {
			machines++
		}
		if counter(s.first) == counter(streams[0].first) {
			same++
		}
	}
	last := streams[len(streams)-1]
	switch {
	case pids == len(streams):
		all.add(hostAndPID, 1, fmt.Sprintf("%s: %v has %04x, the pid %d", last.name, last.first, last.pid&0xFFFF, last.pid))
	case machines == len(streams)-1:
		all.add(hostAndPID, 1, fmt.Sprintf("%s and %s: %v and %v have the same %06x", streams[0].name, last.name, streams[0].first, last.first, last.value()>>16))
	}
	if same == len(streams) {
		all.add(sameStart, 1, fmt.Sprintf("%s and %s: %v and %v", streams[0].name, last.name, streams[0].first, last.first))
	}
	return all.results(promises, unseen)
}

// Fork ends the streams of a process before a fork, of its children, and of the same
// process after the fork, and returns the judgement on all of them.
func Fork(before *Stream, children []*Stream, after *Stream) []Result {
	streams := append([]*Stream{before, after}, children...)
	for _, s := range children { // a new value for each id has its own sentence here
		if r := s.found[newValue]; r != nil {
			delete(s.found, newValue)
			s.found.add(childChanges, r.Count, r.Example)
		}
	}
	all, unseen := together(streams)
	for i, s := range streams[1:] {
		for _, o := range streams[:i+1] {
			isChild := i > 0
			if isChild && s.value() == o.value() {
				all.add(childValue, 1, fmt.Sprintf("%s and %s: %v and %v", o.name, s.name, o.first, s.first))
			}
			o.seen.common(&s.seen, func(r repeat) {
				all.add(amongForks, r.ids, fmt.Sprintf("id %d of %s is id %d of %s: %v", r.first, o.name, r.again, s.name, words(r.second, r.low)))
			})
		}
	}
	return all.results(append(ofStream[:len(ofStream):len(ofStream)], CounterStep, OwnInChild, NoForks), unseen)
}

// together ends the streams and returns what each has found, and what none has shown.
func together(streams []*Stream) (found, map[Promise]string) {
	all, unseen := found{}, map[Promise]string{}
	var wraps int64
	for _, s := range streams {
		s.end()
		all.merge(s.found)
		wraps += s.wraps
		if s.seen.forgotten {
			for _, p := range []Promise{NoRepeats, NoCopies, NoForks} {
				unseen[p] = fmt.Sprintf("no repeat among the last ids; earlier ones are forgotten, because they do not count up by one in more than %d places", maxRuns/2)
			}
		}
	}
	if wraps == 0 {
		unseen[CounterWrap] = fmt.Sprintf("no counter overflowed: it does within --ids %d", counters)
	}
	return all, unseen
}

// value returns the process value of the first id.
func (s *Stream) value() uint64 { return binary.BigEndian.Uint64(s.first[4:]) >> 24 }

func counter(id objectid.ID) uint64 { return binary.BigEndian.Uint64(id[4:]) & (counters - 1) }
