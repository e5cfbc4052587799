package pure

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall/js"
	"time"
)

// loaded has the zones that loadZone has returned, by name.
var loaded sync.Map

// loadZone returns the time zone with a name, from the data of the browser. The data of package
// time/tzdata would add a twentieth to the size of the program. loadZone asks the browser for
// offsets from UTC between 1970 and 2106, the years of ObjectIds, and searches for the times at
// which the offset changes. The zone has no abbreviations such as CET.
func loadZone(name string) (l *time.Location, err error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	if l, ok := loaded.Load(name); ok {
		return l.(*time.Location), nil
	}
	defer func() {
		if thrown := recover(); thrown != nil { // a RangeError for an unknown name
			err = fmt.Errorf("%v", thrown)
		}
	}()
	offset := browserOffset(name)
	// In seconds: the shortest summer time had 6 days and 23 hours (Recife in 2000), and offsets
	// change at multiples of 30 seconds (Monrovia in 1972).
	const step, exact = 5 * 24 * 3600, 30
	var changes, kinds, table []byte
	current := offset(0)
	offsets := []int{current}
	for second := 0; second < 1<<32; {
		next := second + step
		if offset(next) != current {
			next = second + exact*sort.Search(step/exact, func(n int) bool { return offset(second+exact*n) != current })
			if current = offset(next); !slices.Contains(offsets, current) {
				offsets = append(offsets, current)
			}
			changes = binary.BigEndian.AppendUint64(changes, uint64(next))
			kinds = append(kinds, byte(slices.Index(offsets, current)))
		}
		second = next
	}
	for _, seconds := range offsets {
		table = append(binary.BigEndian.AppendUint32(table, uint32(seconds)), 0, 0) // standard time, the first abbreviation
	}
	// The format is that of RFC 9636: an empty block with 32-bit times, then a block with 64-bit
	// times. Of the six numbers at its start, the last three count the changes, the offsets, and
	// the bytes of abbreviations.
	head := append([]byte("TZif2"), make([]byte, 15)...)
	data := append(append(slices.Clone(head), make([]byte, 6*4)...), head...)
	for _, n := range []int{0, 0, 0, len(kinds), len(offsets), 1} {
		data = binary.BigEndian.AppendUint32(data, uint32(n))
	}
	data = append(slices.Concat(data, changes, kinds, table), "\x00\n\n"...)
	if l, err = time.LoadLocationFromTZData(name, data); err == nil {
		loaded.Store(name, l)
	}
	return l, err
}

// browserOffset returns a function that returns how many seconds a zone is ahead of UTC at a
// Unix time. It panics if the browser does not know the zone.
func browserOffset(zone string) func(second int) int {
	format := js.Global().Get("Intl").Get("DateTimeFormat").New("en-US", map[string]any{"timeZone": zone, "timeZoneName": "longOffset"})
	return func(second int) int {
		_, text, _ := strings.Cut(format.Call("format", second*1000).String(), "GMT") // 1/1/1970, GMT-00:44:30
		t, _ := time.Parse("-07:00:00"[:len(text)], text)
		_, seconds := t.Zone()
		return seconds
	}
}
