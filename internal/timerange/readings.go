package timerange

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/objectid"
)

// Reading is one way to read a text as a time.
type Reading struct {
	Time time.Time // in UTC, with the precision of the text
	As   string    // what the text was taken for, such as "milliseconds since 1970"
	Zone string    // the zone in which the text was read, if it names none; otherwise empty
}

// What a text can be taken for. If the text names no zone, the name of the zone follows.
const (
	AsTime  = "a time"
	AsLocal = "a time without a zone, read in"
	AsHex   = "the first 4 bytes of an ObjectId"
)

// asUnits are the units in which programs count; each is a thousandth of the one before.
var asUnits = []string{"seconds since 1970", "milliseconds since 1970", "microseconds since 1970", "nanoseconds since 1970"}

// compact are the layouts of dates and times that consist of digits alone.
var compact = []string{"20060102", "2006010215", "200601021504", "20060102150405"}

// Readings returns all plausible ways to read a text that was given in the place of an id as a
// time; nil if there is none. Times without a zone are in the zone of now.
//
// It reads what [Parse] reads, and numbers by these rules. A number counts units since 1970 if
// the result is at least 100,000,000 seconds, which is in 1973: no number is such a time in two
// units. A number of 15 digits or more may be a Snowflake, and 8 hexadecimal digits may be
// anything. So their time must be one that an ObjectId of today can have, from 2009 until now.
// A time before 1970 or after 2106 is none: an ObjectId cannot hold it.
func Readings(s string, now time.Time) (out []Reading) {
	const longest = 100 // bytes of a time in its longest wrapping
	if len(s) > longest {
		return nil
	}
	words, unit := unwrap(strings.Join(strings.Fields(strings.ToLower(s)), " "))
	add := func(t time.Time, as, zone string, isSure bool) {
		if objectid.MinAt(t).Time().Unix() == t.Unix() && (isSure || !t.Before(era.First) && !era.IsFuture(t, now)) {
			out = append(out, Reading{t.UTC(), as, zone})
		}
	}
	if b, err := hex.DecodeString(strings.TrimPrefix(words, "0x")); err == nil && len(b) == 4 {
		add(time.Unix(int64(binary.BigEndian.Uint32(b)), 0), AsHex, "", false)
	}
	zone := now.Location()
	if digits, _, _ := strings.Cut(words, "."); unit == 0 && isDigits(digits) && strings.Trim(words, "0123456789.") == "" {
		for i, symbol := range []string{"s", "ms", "us", "ns"} {
			if d, err := time.ParseDuration(words + symbol); err == nil && d >= 1e8*time.Second {
				add(time.Unix(0, int64(d)), asUnits[i], "", len(digits) < 15)
			}
		}
		for _, layout := range compact {
			if t, err := time.Parse(layout, words); err == nil && t.Year() >= 1973 {
				t, err = inZone(t, zone, layout == compact[0])
				if err != nil { // no clock, or two clocks, showed it: another reading would look like the only one
					return nil
				}
				add(t, AsLocal, zone.String(), true)
			}
		}
		return out
	}
	if t, err := Parse(s, now); err == nil {
		east := time.FixedZone("", int((offsetAt(now, zone) + time.Hour).Seconds()))
		if other, err := Parse(s, now.In(east)); err != nil || !other.Equal(t) {
			add(t, AsLocal, zone.String(), true)
		} else {
			add(t, map[time.Duration]string{0: AsTime, time.Second: asUnits[0], time.Millisecond: asUnits[1]}[unit], "", true)
		}
	}
	return out
}
