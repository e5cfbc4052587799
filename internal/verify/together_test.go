package verify

import (
	"slices"
	"testing"
	"time"
)

// at returns a stream with n ids of a second, from a process value and a counter on.
func at(name string, pid int, second uint32, value, counter uint64, n int) *Stream {
	s := NewStream(name, pid, NewClock(Running, time.Now()), int64(n))
	for i := range n {
		s.add(second, value<<24|(counter+uint64(i)))
	}
	return s
}

// A process value may change when the clock has jumped, as after a resume, and at no
// other time.
func TestValueMayChangeWithAJump(t *testing.T) {
	now := uint32(time.Now().Unix())
	for jump, want := range map[uint32][]Promise{0: {ProcessValue}, 1: {ProcessValue}, 2: nil, 3600: nil} {
		got, results := judge(t, Forward, func(s *Stream) {
			s.clock.moments = []int64{int64(now), int64(now + jump)}
			s.clock.Step()
			s.add(now, 5<<24|7)
			s.add(now+jump, 6<<24|1000)
		})
		if !slices.Equal(got, want) {
			t.Errorf("jump of %d s: broken %v, want %v\n%+v", jump, got, want, results)
		}
	}
}

// What several processes share is found, and what they merely resemble is not.
func TestCopies(t *testing.T) {
	now := uint32(time.Now().Unix())
	for _, c := range []struct {
		name string
		a, b *Stream
		want []Promise
	}{
		{"apart", at("a", 1, now, 0x1122334455, 10, 5), at("b", 2, now, 0x6677889900, 20, 5), nil},
		{"one value", at("a", 1, now, 0x1122334455, 10, 5), at("b", 2, now, 0x1122334455, 20, 5), []Promise{OwnValue}},
		{"one value and one id", at("a", 1, now, 0x1122334455, 10, 5), at("b", 2, now, 0x1122334455, 14, 5), []Promise{OwnValue, NoCopies}},
		{"another second", at("a", 1, now, 0x1122334455, 10, 5), at("b", 2, now-1, 0x1122334455, 14, 5), []Promise{OwnValue}},
		{"one start", at("a", 1, now, 0x1122334455, 10, 5), at("b", 2, now, 0x6677889900, 10, 5), []Promise{CounterStart}},
		{"pids", at("a", 0x34455, now, 0x1122334455, 10, 5), at("b", 0x8900, now, 0x6677888900, 20, 5), []Promise{Layout}},
		{"one pid by chance", at("a", 0x4455, now, 0x1122334455, 10, 5), at("b", 7, now, 0x6677888900, 20, 5), nil},
		{"one machine", at("a", 1, now, 0x1122334455, 10, 5), at("b", 2, now, 0x1122338900, 20, 5), []Promise{Layout}},
	} {
		if got := broken(Copies([]*Stream{c.a, c.b})); !slices.Equal(got, c.want) {
			t.Errorf("%s: broken %v, want %v", c.name, got, c.want)
		}
	}
}

// After a fork the parent keeps its value, and each child needs another one.
func TestFork(t *testing.T) {
	now := uint32(time.Now().Unix())
	const value, other, third = 0x1122334455, 0x6677889900, 0xAABBCCDDEE
	for _, c := range []struct {
		name                   string
		first, second          uint64
		firstFrom, secondsFrom uint64
		want                   []Promise
	}{
		{"apart", other, third, 50, 70, nil},
		{"a child keeps the value", value, third, 50, 70, []Promise{OwnInChild}},
		{"a child keeps all", value, third, 15, 70, []Promise{OwnInChild, NoForks}},
		{"two children are alike", other, other, 50, 70, []Promise{OwnInChild}},
	} {
		before, after := at("before", 0, now, value, 10, 5), at("after", 0, now, value, 15, 5)
		children := []*Stream{at("child 1", 0, now, c.first, c.firstFrom, 5), at("child 2", 0, now, c.second, c.secondsFrom, 5)}
		if got := broken(Fork(before, children, after)); !slices.Equal(got, c.want) {
			t.Errorf("%s: broken %v, want %v", c.name, got, c.want)
		}
	}
}

// The numbers in a repeat are those of the id, however the runs overlap.
func TestNumbersOfARepeat(t *testing.T) {
	var s seen
	var got []repeat
	found := func(r repeat) { got = append(got, r) }
	s.add(run{1, 10, 19, 1}, found)
	s.add(run{1, 15, 24, 11}, found) // ids 11 to 15 repeat 6 to 10
	s.add(run{1, 17, 30, 21}, found) // ids 21 to 28 repeat what is there
	s.compact(found)
	want := []repeat{{5, 1, 15, 6, 11}, {8, 1, 17, 8, 21}}
	if !slices.Equal(got, want) {
		t.Errorf("repeats %v, want %v", got, want)
	}
	var o seen
	o.add(run{1, 23, 40, 1}, found)
	o.compact(found)
	got = nil
	s.common(&o, found)
	if want := []repeat{{2, 1, 23, 19, 1}, {6, 1, 25, 29, 3}}; !slices.Equal(got, want) {
		t.Errorf("common %v, want %v", got, want)
	}
}

// A full counter may carry into the last byte of the process value, until the next
// second.
func TestCarry(t *testing.T) {
	const value, now = uint64(0x0123456789), 1_800_000_000
	for _, c := range []struct {
		next uint64
		want []Promise
	}{
		{value<<24 | 1, nil},
		{(value+1)<<24 | 1, nil},
		{value<<24 | 5, []Promise{ProcessValue}},
		{(value+0x100)<<24 | 1, []Promise{ProcessValue}},
	} {
		got, _ := judge(t, Frozen, func(s *Stream) {
			s.clock.moments = []int64{now}
			s.add(now, value<<24|0xFFFFFF)
			s.add(now, (value+1)<<24)
			s.add(now+1, c.next)
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("then %x: broken %v, want %v", c.next, got, c.want)
		}
	}
}
