package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/oidkit/oid/objectid"
)

// counters is the number of values of a counter.
const counters = 1 << 24

// hexLine is the length of an id in hexadecimal digits.
const hexLine = 24

// Stream judges the ids of one process. One goroutine uses it.
type Stream struct {
	name  string
	pid   int
	clock *Clock
	want  int64

	ids     int64
	lines   int64
	first   objectid.ID
	second  uint32 // of the last id
	low     uint64 // the last eight bytes of the last id
	open    run    // that the last id belongs to
	wraps   int64  // overflows of the counter
	changes int64  // of the process value
	began   time.Time
	seen    seen
	found   found
}

// NewStream returns the judgement of one process that is to write a number of ids. name
// names it in examples; pid is that of the program, or 0.
func NewStream(name string, pid int, clock *Clock, ids int64) *Stream {
	return &Stream{name: name, pid: pid, clock: clock, want: ids, found: found{}}
}

// Name returns the name of the stream in examples.
func (s *Stream) Name() string { return s.name }

// IDs returns the number of ids so far.
func (s *Stream) IDs() int64 { return s.ids }

// Done reports whether it has as many ids as it wants.
func (s *Stream) Done() bool { return s.ids >= s.want }

// Second returns the second of the last id.
func (s *Stream) Second() uint32 { return s.second }

// Lines judges the ids in whole lines, until the stream is done. The error is that of
// a line that is not an id.
func (s *Stream) Lines(text []byte) error {
	for len(text) > 0 && s.ids < s.want {
		var id objectid.ID
		s.lines++
		if len(text) > hexLine && text[hexLine] == '\n' && id.UnmarshalText(text[:hexLine]) == nil {
			text = text[hexLine+1:]
		} else {
			var line []byte
			line, text, _ = bytes.Cut(text, []byte{'\n'})
			if err := readID(&id, bytes.TrimSpace(line)); err != nil {
				return fmt.Errorf("%s, line %d is not an id: %w", s.name, s.lines, err)
			}
		}
		s.add(binary.BigEndian.Uint32(id[:]), binary.BigEndian.Uint64(id[4:]))
	}
	return nil
}

// readID reads an id from a line: its digits, or JSON.
func readID(id *objectid.ID, line []byte) error {
	switch {
	case len(line) == 0:
		return errors.New("it is empty")
	case id.UnmarshalText(line) == nil, (line[0] == '"' || line[0] == '{') && id.UnmarshalJSON(line) == nil:
		return nil
	}
	return fmt.Errorf("%q", shortened(string(line)))
}

// add judges the next id.
func (s *Stream) add(second uint32, low uint64) {
	s.ids++
	if second == s.second && low == s.low+1 && low&(counters-1) != 0 {
		s.low = low
		return
	}
	if s.ids == 1 {
		s.first, s.began = words(second, low), time.Now()
		s.checkSecond(second, low)
	} else {
		s.compare(second, low)
	}
	if second != s.second || low != s.low+1 || s.ids == 1 {
		s.closeRun()
		s.open = run{second: second, lo: low, at: s.ids}
	}
	s.second, s.low = second, low
}

// closeRun remembers the ids of the run up to the last one.
func (s *Stream) closeRun() {
	if s.open.at == 0 {
		return
	}
	s.open.hi = s.low
	s.seen.add(s.open, s.repeated)
}

// The breaches within one process.
var (
	repeats = breach{NoRepeats, "An insert with a repeated id fails with E11000, or an upsert overwrites another document."}
	tooMany = breach{NoRepeats, "Beyond 2^24 ids in one second ids repeat: inserts fail with E11000, or an upsert overwrites another document."}

	unsorted  = breach{Order, "Sorted by _id, documents are not in the order of their creation: readers that go on after the last _id miss some."}
	clockBack = breach{Order, "After the clock was set back, new ids sort before older ones: readers that go on after the last _id miss them."}
	wrapBack  = breach{CounterWrap, "When the counter overflows within a second, new ids sort before older ones: readers that go on after the last _id miss them."}

	newValue = breach{ProcessValue, "The ids of one process cannot be recognised as such, and each new value is another chance to repeat an id."}

	jumps  = breach{CounterStep, "With other steps fewer ids fit into a second, and random ones repeat by chance."}
	resets = breach{CounterStep, "A counter that begins again with each second repeats ids when the clock is set back."}
)

// overflow is how near to its end a counter is before it overflows, and to its begin
// after that: some leave out a value.
const overflow = 16

// compare judges an id by the one before, which is not the id just before it in the
// same run.
func (s *Stream) compare(second uint32, low uint64) {
	if second == s.second && low == s.low {
		return // the run that begins here repeats an id
	}
	value, before := low>>24, s.low>>24
	counter, expected := low&(counters-1), (s.low+1)&(counters-1)
	wrapped := counter < overflow && s.low&(counters-1) >= counters-overflow
	if wrapped {
		s.wraps++
	}
	// A carry into the last byte of the process value is undone in the next second.
	sameValue := value == before || value>>8 == before>>8 && (low == s.low+1 || counter == expected && second != s.second)
	jump := int64(second) - int64(s.second)
	switch {
	case second > s.second, second == s.second && low > s.low:
	case second < s.second && s.clock.mode == Back:
		s.breach(clockBack, second, low)
	case second < s.second:
		s.breach(unsorted, second, low)
	case sameValue && wrapped:
		s.breach(wrapBack, second, low)
	case sameValue:
		s.breach(unsorted, second, low)
	}
	switch {
	case sameValue && counter == expected:
	case sameValue && jump != 0:
		s.breach(resets, second, low)
	case sameValue:
		s.breach(jumps, second, low)
	case jump > 1: // a generator may take a clock step for the end of a suspension
		s.changes++
	default:
		s.changes++
		s.breach(newValue, second, low)
	}
	if second != s.second {
		s.checkSecond(second, low)
	}
}

// breach records a breach by an id and the one before.
func (s *Stream) breach(b breach, second uint32, low uint64) {
	if s.found[b] != nil {
		s.found.add(b, 1, "")
		return
	}
	s.found.add(b, 1, fmt.Sprintf("%s, id %d: %v after %v", s.name, s.ids, words(second, low), words(s.second, s.low)))
}

func (s *Stream) checkSecond(second uint32, low uint64) {
	b, example := s.clock.check(second, s.wraps)
	if example != "" {
		s.found.add(b, 1, fmt.Sprintf("%s, id %d: %v, %s; %s", s.name, s.ids, words(second, low), timeText(int64(second)), example))
	}
}

// repeated records ids that are in the stream twice.
func (s *Stream) repeated(r repeat) {
	b := repeats
	if r.again-r.first >= counters-1 {
		b = tooMany
	}
	s.found.add(b, r.ids, fmt.Sprintf("%s: id %d is the same as id %d: %v", s.name, r.again, r.first, words(r.second, r.low)))
}

// end judges what only the end of the stream shows.
func (s *Stream) end() {
	s.closeRun()
	s.open = run{}
	s.seen.compact(s.repeated)
	if s.ids == 0 {
		return
	}
	if r := s.found[resets]; r != nil && s.found[jumps] != nil { // it jumps anyway
		delete(s.found, resets)
		s.found.add(jumps, r.Count, r.Example)
	}
	passed := int64(s.second) - int64(binary.BigEndian.Uint32(s.first[:]))
	if b, example := s.clock.checkEnd(s.second, passed, time.Since(s.began)); example != "" {
		s.found.add(b, 1, fmt.Sprintf("%s, id %d: %v, %s; %s", s.name, s.ids, words(s.second, s.low), timeText(int64(s.second)), example))
	}
}

// words returns the id of a second with the last eight bytes low.
func words(second uint32, low uint64) (id objectid.ID) {
	binary.BigEndian.PutUint32(id[:], second)
	binary.BigEndian.PutUint64(id[4:], low)
	return id
}
