package objectid

import (
	"fmt"
	"strings"
)

// Layout is the meaning of the eight bytes after the seconds.
//
//	         4 5 6 7         8        9 10 11
//	Modern   random value             counter
//	Classic  machine    pid           counter
//	Java     machine, process  counter
//
// A counter starts at a random value, increases by one with every ID, and
// continues from second to second. A [Generator] has the Modern layout; the others are
// those of older drivers, whose ids package inspect reads.
type Layout uint8

const (
	// Modern has 5 random bytes, drawn for each generator, and a counter
	// of 3 bytes, as MongoDB drivers write today. In a [Generator] an overflow carries
	// into the last of the random bytes, which is drawn from 0 to 191 to leave room,
	// until the next second sets it back: the whole process block, the 256
	// process values with the same first four bytes, belongs to the generator.
	Modern Layout = iota
	// Classic has the first 3 bytes of the MD5 of the host's name, the last 2
	// bytes of the process id, and a counter of 3 bytes, as MongoDB drivers
	// wrote until 2018.
	Classic
	// Java has 2 bytes made from the network interfaces, 2 bytes made from the
	// process and a counter of 4 bytes, as version 2 of the Java driver wrote.
	Java
)

// Layouts are all layouts, the default first.
var Layouts = []Layout{Modern, Classic, Java}

var layoutNames = [...]string{Modern: "modern", Classic: "classic", Java: "java"}

// String returns the lower-case name of l.
func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return fmt.Sprintf("Layout(%d)", uint8(l))
}

// MarshalText returns the name of l, or an error if l is not a layout.
func (l Layout) MarshalText() ([]byte, error) {
	if int(l) >= len(layoutNames) {
		return nil, fmt.Errorf("objectid: no such layout: %d", uint8(l))
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads the name of a layout, in lower case. On an error l is left
// unchanged.
func (l *Layout) UnmarshalText(text []byte) error {
	for i, name := range layoutNames {
		if string(text) == name {
			*l = Layout(i)
			return nil
		}
	}
	return fmt.Errorf("objectid: no such layout: %q, want %s", text, strings.Join(layoutNames[:], ", "))
}
