// Package inspect tells what one id says of its birth, and how sure that is.
//
// [Inspect] reads an id that stands alone; [Scan] finds ids in whatever people
// paste. Twelve bytes do not say who laid them out, so an ObjectId is read under
// all three of its layouts side by side, and every reading comes with a verdict
// and the reason for it. Ids of other formats are recognised by their form and
// read with their own libraries: UUID versions 1 to 8, ULID, KSUID, xid and
// Snowflake.
//
// All functions may be called by any number of goroutines at once.
package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/oidkit/oid/objectid"
)

// ErrUnknown is wrapped by the error that [Inspect] returns for a text that is
// no id of a format known here.
var ErrUnknown = errors.New("inspect: not an id of a known format")

// Options tune [Inspect]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// Layout, if not nil, is the layout that the caller knows or supposes the
	// maker of an ObjectId to use. Its reading then comes first.
	Layout *objectid.Layout

	// Now returns the time that an id's time is compared with. Default:
	// time.Now.
	Now func() time.Time
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Now == nil {
		out.Now = time.Now
	}
	return out
}

// Report is what one id tells.
type Report struct {
	// ID is the id in the canonical form of its format.
	ID string `json:"id"`

	// Time is the time of birth in the first reading, in UTC, or nil if that
	// reading has none.
	Time *time.Time `json:"time"`

	// Readings are the ways to read the id, at least one, the most plausible
	// first.
	Readings []Reading `json:"readings"`
}

// Reading is one way to read an id.
type Reading struct {
	// Format is objectid, uuid, ulid, ksuid, xid or snowflake.
	Format string `json:"format"`

	// Variant tells formats of one name apart: an ObjectId's layout (modern,
	// classic, java), a UUID's version (v1 to v8, nil, max, or none), a
	// Snowflake's service (twitter, discord, instagram). Empty for the others.
	Variant string `json:"variant,omitempty"`

	Verdict Verdict `json:"verdict"`

	// Why is the reason for the verdict, in a few words.
	Why string `json:"why"`

	// Time is the time of birth in UTC, as exact as the format has it, or nil if
	// the format has none or the time lies beyond the year 9999.
	Time *time.Time `json:"time"`

	// Fields are the parts of the id, in the order of its bits.
	Fields []Field `json:"fields"`
}

// Field is one part of an id.
type Field struct {
	Name string `json:"name"`

	// Bit is where the field begins, counted from the id's most significant
	// bit, and Bits is its length.
	Bit  int `json:"bit"`
	Bits int `json:"bits"`

	// Hex is the field's value in hexadecimal digits, as many as it needs.
	Hex string `json:"hex"`

	// Number is the field's value where it is a number, otherwise nil.
	Number *uint64 `json:"number,omitempty"`
}

// Verdict says how far a [Reading] can be believed.
type Verdict string

// The verdicts, best first.
const (
	// Likely is the best reading of an id that looks in order.
	Likely Verdict = "likely"
	// Possible is a reading that nothing speaks against, beside a better or an
	// equally good one.
	Possible Verdict = "possible"
	// Unlikely is a reading that something speaks against.
	Unlikely Verdict = "unlikely"
	// Bound is an id with nothing but a time in it: an end of a range of ids,
	// and hardly the id of anything.
	Bound Verdict = "bound"
)

var verdictRank = map[Verdict]int{Likely: 0, Possible: 1, Unlikely: 2, Bound: 3}

// Inspect reads s, an id with nothing around it. The error, if s has the form of
// no known format, wraps [ErrUnknown] and says what an id of its length has to be. A nil o is the
// default options.
func Inspect(s string, o *Options) (Report, error) {
	options := o.withDefaults()
	for _, read := range []func(string, Options) (Report, bool){
		readObjectID, readUUID, readULID, readKSUID, readXID, readSnowflake,
	} {
		if report, ok := read(s, options); ok {
			slices.SortStableFunc(report.Readings, func(a, b Reading) int {
				return cmp.Compare(verdictRank[a.Verdict], verdictRank[b.Verdict])
			})
			report.Time = report.Readings[0].Time
			return report, nil
		}
	}
	return Report{}, unknown(s)
}

// forms say what an id of each length has to be, for the error about one that is
// not.
var forms = map[int]string{
	20: "an xid has 20 characters of 0-9a-v, the last 0 or g",
	24: "an ObjectId has 24 hexadecimal digits",
	26: "a ULID has 26 characters of 0-9A-Z without I, L, O and U, the first 0 to 7",
	27: "a KSUID has 27 characters of 0-9A-Za-z, up to aWgEPTl1tmebfsQzFP4bxwgy80V",
	32: "a UUID has 32 hexadecimal digits",
	36: "a UUID has 32 hexadecimal digits and 4 hyphens",
}

func unknown(s string) error {
	n := utf8.RuneCountInString(s)
	if _, err := objectid.Parse(s); n == 24 {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if form, ok := forms[n]; ok {
		return fmt.Errorf("%w: %q: %s", ErrUnknown, s, form)
	}
	if n > 40 {
		s = string([]rune(s)[:40]) + "..."
	}
	return fmt.Errorf("%w: %q has %d characters; %s", ErrUnknown, s, n, forms[24])
}

// tolerance is how far ahead of this machine's clock another's may be.
const tolerance = 48 * time.Hour

// judge gives r the time t and compares it with the years in which such ids were
// made; if it is in order, r gets the verdict good for the reason why. A time that
// RFC 3339 cannot write is left out.
func (r *Reading) judge(t, first time.Time, o Options, good Verdict, why string) {
	t = t.UTC()
	if t.Year() <= 9999 {
		r.Time = &t
	}
	switch {
	case t.Before(first):
		r.Verdict, r.Why = Unlikely, fmt.Sprintf("the time lies before %d, when there were no such ids", first.Year())
	case r.Time == nil:
		r.Verdict, r.Why = Unlikely, fmt.Sprintf("the time lies in the year %d", t.Year())
	case t.After(o.Now().Add(tolerance)):
		r.Verdict, r.Why = Unlikely, "the time lies in the future"
	default:
		r.Verdict, r.Why = good, why
	}
}

func date(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}
