package timerange

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/era"
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

// asUnits are the units in which programs count from 1970, with their symbols.
var asUnits = []struct {
	unit       time.Duration
	symbol, as string
}{
	{time.Second, "s", "seconds since 1970"},
	{time.Millisecond, "ms", "milliseconds since 1970"},
	{time.Microsecond, "us", "microseconds since 1970"},
	{time.Nanosecond, "ns", "nanoseconds since 1970"},
}

// compact are the layouts of dates and times that consist of digits alone.
var compact = []string{"20060102", "2006010215", "200601021504", "20060102150405"}

// Readings returns all plausible ways to read a text that was given in the place of an id as a
// time; nil if there is none. Times without a zone are in the zone of now.
//
// It reads what [Parse] reads, and numbers by these rules. A number counts units since 1970 if
// the result is from 1973, when the count of seconds reached 9 digits, to 2106, the last year
// that an ObjectId can hold: no number is such a time in two units. A date in digits is from
// the same years. A number of 15 digits or more may be a Snowflake, and 8 hexadecimal digits
// may be anything. So their time must also be one that an ObjectId of today can have: from 2009
// until now.
func Readings(s string, now time.Time) (out []Reading) {
	const longest = 100 // bytes of a time in its longest wrapping
	if len(s) > longest {
		return nil
	}
	words, unit := unwrap(strings.Join(strings.Fields(strings.ToLower(s)), " "))
	add := func(t time.Time, as, zone string, isSure bool) {
		if isSure || !t.Before(era.First) && !era.IsFuture(t, now) {
			out = append(out, Reading{t.UTC(), as, zone})
		}
	}
	if b, err := hex.DecodeString(strings.TrimPrefix(words, "0x")); err == nil && len(b) == 4 {
		add(time.Unix(int64(binary.BigEndian.Uint32(b)), 0), AsHex, "", false)
	}
	if digits, _, _ := strings.Cut(words, "."); unit == 0 && isDigits(digits) && strings.Trim(words, "0123456789.") == "" {
		for _, u := range asUnits {
			d, err := time.ParseDuration(words + u.symbol)
			if err == nil && d >= 1e8*time.Second && d <= math.MaxUint32*time.Second {
				add(time.Unix(0, int64(d)), u.as, "", len(digits) < 15)
			}
		}
		for _, layout := range compact {
			t, err := time.Parse(layout, words)
			if err != nil || t.Year() < 1973 || t.Year() > 2105 {
				continue
			}
			local, err := inZone(t, now.Location(), layout == compact[0])
			if err != nil { // no clock, or two clocks, showed it: another reading would look like the only one
				return nil
			}
			add(local, AsLocal, now.Location().String(), true)
		}
		return out
	}
	t, err := Parse(s, now)
	if err != nil {
		return out
	}
	as, zone := AsTime, ""
	for _, u := range asUnits {
		if u.unit == unit {
			as = u.as
		}
	}
	if elsewhere, err := Parse(s, now.In(time.FixedZone("", int((offsetAt(now, now.Location())+time.Hour).Seconds())))); err != nil || !elsewhere.Equal(t) {
		as, zone = AsLocal, now.Location().String()
	}
	return append(out, Reading{t.UTC(), as, zone})
}
