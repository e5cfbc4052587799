// Package inspect reads ids in any text and says what they contain: the creation time and
// the other fields, and how reliable they are.
//
// Start with [Inspect], which reads one id with nothing around it. [Scan] finds the ids in
// what people paste: lists, documents, and single ids in the notations of shells, drivers
// and SQL. [Find] and [FindAll] find those that nothing else looks like, in any text, such
// as a log. [ParseObjectID] reads one ObjectId in any of the notations.
//
// The bytes of an ObjectId do not reveal which layout was used, so Inspect reads it under
// all three layouts, and gives every reading a verdict and the reason for it. It recognises
// ids of other formats by their form: UUID versions 1 to 8, ULID, KSUID, xid, Snowflake,
// TypeID, and the gpids of package gpid.
//
// All functions are safe for concurrent use.
package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/objectid"
)

// ErrUnknown is wrapped by the error that [Inspect] returns for a text that is not
// an id of a known format.
var ErrUnknown = errors.New("inspect: not an id of a known format")

// Options tune [Inspect]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// Layout, if not nil, is the known or presumed layout of an ObjectId. Its
	// reading then comes first.
	Layout *objectid.Layout

	// Hosts are names of hosts that may have created the id. With the machine bytes
	// of one of them, the classic layout is the likely one. Default: the name of
	// this host.
	Hosts []string

	// Now returns the time that an id's time is compared with. Default:
	// time.Now.
	Now func() time.Time

	// Buffer, if not nil, holds the next report on an ObjectId, for programs that inspect
	// millions: the report is valid until the next call with this Buffer, and only one
	// goroutine at a time may use it.
	Buffer *Buffer
}

// thisHost returns the name of this host, which is empty if it has none.
var thisHost = sync.OnceValue(func() []string {
	host, _ := os.Hostname()
	return []string{host}
})

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Now == nil {
		out.Now = time.Now
	}
	if out.Hosts == nil {
		out.Hosts = thisHost()
	}
	return out
}

// Report is the result of inspecting one id.
type Report struct {
	// ID is the id in the canonical form of its format.
	ID string

	// Time is the creation time in the first reading, in UTC, or nil if that
	// reading has none.
	Time *time.Time

	// Readings are the ways to read the id, at least one, the most plausible
	// first.
	Readings []Reading
}

// Reading is one way to read an id.
type Reading struct {
	Format Format

	// Variant is the layout of an ObjectId (modern, classic, java), the version of
	// a UUID (v1 to v8, nil, max, or empty if unknown), the service of a
	// Snowflake (twitter, discord, instagram, mastodon, sonyflake) or the prefix
	// of a TypeID. It is empty for other formats.
	Variant string

	Verdict Verdict

	// Reason is the reason for the verdict, in a few words.
	Reason string

	// Time is the creation time in UTC, as exact as the format has it, or nil if
	// the format has none or the time is after the year 9999.
	Time *time.Time

	// Fields are the parts of the id, in the order of its bits.
	Fields []Field
}

// Field is one part of an id.
type Field struct {
	Name string

	// Bit is where the field begins, counted from the id's most significant
	// bit, and Bits is its length.
	Bit  int
	Bits int

	// Hex is the field's value in hexadecimal digits, as many as it needs.
	Hex string

	// Number is the field's value where it is a number, otherwise nil.
	Number *uint64
}

// Format is a format of ids.
type Format string

const (
	ObjectID  Format = "objectid"
	UUID      Format = "uuid"
	ULID      Format = "ulid"
	KSUID     Format = "ksuid"
	XID       Format = "xid"
	Snowflake Format = "snowflake"
	TypeID    Format = "typeid"
	GPID      Format = "gpid"
)

type kind struct {
	format Format
	name   string // for people
	read   func(string, Options) (Report, bool)
	forms  map[int]string // describe the ids of each length, for an error; nil if others have that length
}

// kinds are all formats, in the order in which they are tried.
var kinds = []kind{
	{ObjectID, "ObjectId", readObjectID, map[int]string{24: "an ObjectId has 24 hexadecimal digits"}},
	{UUID, "UUID", readUUID, map[int]string{
		32: "a UUID has 32 hexadecimal digits",
		36: "a UUID has 32 hexadecimal digits and 4 hyphens",
	}},
	{ULID, "ULID", readULID, map[int]string{26: "a ULID has 26 characters of 0-9A-Z without I, L, O and U, the first 0 to 7"}},
	{KSUID, "KSUID", readKSUID, map[int]string{27: "a KSUID has 27 characters of 0-9A-Za-z, up to aWgEPTl1tmebfsQzFP4bxwgy80V"}},
	{XID, "xid", readXID, map[int]string{20: "an xid has 20 characters of 0-9a-v, the last 0 or g"}},
	{Snowflake, "Snowflake", readSnowflake, nil},
	{TypeID, "TypeID", readTypeID, nil},
	{GPID, "gpid", readGPID, nil},
}

// Formats returns all formats, in a slice that belongs to the caller.
func Formats() []Format { return each.Of(kinds, func(k kind) Format { return k.format }) }

// Names returns the names of all formats for people, as a list in words.
func Names() string {
	return strings.Join(each.Of(kinds, func(k kind) string { return k.name }), ", ")
}

// Verdict is how far a [Reading] can be believed.
type Verdict string

const (
	// Likely is the best reading of a plausible id.
	Likely Verdict = "likely"
	// Possible is a plausible reading beside a better or an equally good one.
	Possible Verdict = "possible"
	// Unlikely is a reading that is not plausible.
	Unlikely Verdict = "unlikely"
	// Bound is an id with only a time: an end of a range, and hardly the id of
	// anything.
	Bound Verdict = "bound"
)

// verdicts are all verdicts, best first.
var verdicts = []Verdict{Likely, Possible, Unlikely, Bound}

// Verdicts returns all verdicts, best first, in a slice that belongs to the caller.
func Verdicts() []Verdict { return slices.Clone(verdicts) }

// Inspect reads s, an id with nothing around it. If s is not an id of a known
// format, the error wraps [ErrUnknown] and describes an id of its length. A nil o
// means the defaults.
func Inspect(s string, o *Options) (Report, error) {
	options := o.withDefaults()
	for _, k := range kinds {
		if report, ok := k.read(s, options); ok {
			slices.SortStableFunc(report.Readings, func(a, b Reading) int {
				return cmp.Compare(slices.Index(verdicts, a.Verdict), slices.Index(verdicts, b.Verdict))
			})
			report.Time = report.Readings[0].Time
			return report, nil
		}
	}
	return Report{}, unknown(s)
}

func unknown(s string) error {
	n := utf8.RuneCountInString(s)
	if _, err := objectid.Parse(s); n == 24 {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	for _, k := range kinds {
		if form, ok := k.forms[n]; ok {
			return fmt.Errorf("%w: %q: %s", ErrUnknown, s, form)
		}
	}
	if n > 40 {
		s = string([]rune(s)[:40]) + "..."
	}
	return fmt.Errorf("%w: %q (length %d); %s", ErrUnknown, s, n, kinds[0].forms[24])
}

// judge gives r the time t. If that is plausible for a format that exists since
// first, r gets the verdict good for the given reason. A time that RFC 3339 cannot
// write is left out.
func (r *Reading) judge(t, first time.Time, o Options, good Verdict, reason string) {
	t = t.UTC()
	if t.Year() <= 9999 {
		r.Time = &t
	}
	switch {
	case t.Before(first):
		r.Verdict, r.Reason = Unlikely, fmt.Sprintf("the time is before %d, when no such ids existed", first.Year())
	case r.Time == nil:
		r.Verdict, r.Reason = Unlikely, fmt.Sprintf("the time is in the year %d", t.Year())
	case era.IsFuture(t, o.Now()):
		r.Verdict, r.Reason = Unlikely, "the time is in the future"
	default:
		r.Verdict, r.Reason = good, reason
	}
}
