// Package inspect finds ids in text and says what they contain: the creation time, the other
// fields, and how reliable both are.
//
// Start with [Inspect], which reads one id with nothing around it. [Scan] finds ids in text
// that people paste: lists, documents, and single ids in the notations of shells, drivers and
// SQL. [Find] and [FindAll] search any other text, such as a log, for ids that cannot be
// confused with other words and numbers. [ParseObjectID] reads one ObjectId in any notation.
//
// The bytes of an ObjectId do not reveal which [objectid.Layout] was used. So Inspect returns
// one [Reading] for each layout, with a [Verdict] on how reliable the reading is. Inspect
// recognises ids of other formats by their length and characters: UUID versions 1 to 8, ULID,
// KSUID, xid, Snowflake, TypeID, and the gpids of package gpid.
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

// ErrUnknown is wrapped by every error of [Inspect].
var ErrUnknown = errors.New("inspect: not an id of a known format")

// Options are the options of [Inspect]. The zero Options and nil mean the defaults.
type Options struct {
	// Layout, if not nil, is the known or presumed layout of an ObjectId. The reading under
	// this layout comes first.
	Layout *objectid.Layout

	// Hosts are the names of hosts that may have created the id. If an ObjectId has the
	// machine bytes of one of these hosts, its likely layout is the classic one. nil means
	// the name of this host.
	Hosts []string

	// Now returns the current time, by which Inspect recognises ids from the future. Default:
	// time.Now.
	Now func() time.Time

	// Buffer, if not nil, is where Inspect puts its report on an ObjectId. That saves
	// allocations in programs that inspect millions of ids. The report is valid until the
	// next call with this Buffer. Only one goroutine at a time may use a Buffer.
	Buffer *Buffer
}

// thisHost returns the name of this host, which is empty if it has none.
var thisHost = sync.OnceValue(func() []string {
	host, _ := os.Hostname()
	return []string{host}
})

func (o *Options) withDefaults() Options {
	out := *cmp.Or(o, new(Options))
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

	// Time is the creation time according to the first reading, in UTC. It is nil if that
	// reading has no time.
	Time *time.Time

	// Readings are the possible readings of the id, at least one, the most plausible first.
	Readings []Reading
}

// Reading is one way to read an id.
type Reading struct {
	Format Format

	// Variant is a subdivision of the format: the layout of an ObjectId (modern, classic,
	// java) or "election" for the electionId of a replica set, the version of a UUID (v1 to v8, nil, max), the service of a Snowflake
	// (twitter, discord, instagram, mastodon, sonyflake) or the prefix of a TypeID. It is
	// empty for other formats, and for a UUID of an unknown version.
	Variant string

	Verdict Verdict

	// Reason is the reason for the verdict, in a few words for human readers.
	Reason string

	// Time is the creation time in UTC, with the precision of the format. It is nil if the
	// format has no time, or if the time is after the year 9999.
	Time *time.Time

	// Fields are the parts of the id, from the most significant bits to the least.
	Fields []Field
}

// Field is one part of an id.
type Field struct {
	Name string

	// Bit is the position of the field's first bit; the most significant bit of the id is 0.
	Bit int

	// Bits is the number of bits of the field.
	Bits int

	// Hex is the field's value in hexadecimal digits, Bits/4 digits rounded up.
	Hex string

	// Number is the field's value if it is a number, otherwise nil.
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
	name   string // for human readers
	read   func(string, Options) (Report, bool)
	forms  map[int]string // descriptions of the format's ids, by their length, for errors; nil if there are none
}

// kinds are all formats, in the order in which Inspect tries them.
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

// Formats returns all formats in a new slice.
func Formats() []Format { return each.Of(kinds, func(k kind) Format { return k.format }) }

// Names returns the names of all formats in one string, separated by commas, for use in
// messages.
func Names() string {
	return strings.Join(each.Of(kinds, func(k kind) string { return k.name }), ", ")
}

// Verdict is how reliable a [Reading] is.
type Verdict string

const (
	// Likely is a plausible reading that is better than all others.
	Likely Verdict = "likely"
	// Possible is a plausible reading that may be wrong, because others are as good or better.
	Possible Verdict = "possible"
	// Unlikely is a reading that is not plausible.
	Unlikely Verdict = "unlikely"
	// Bound is the reading of an id that marks an end of a range, such as an ObjectId whose
	// eight bytes after the time are 0. Such an id hardly identifies a document.
	Bound Verdict = "bound"
)

// verdicts are all verdicts, best first.
var verdicts = []Verdict{Likely, Possible, Unlikely, Bound}

// Verdicts returns all verdicts in a new slice, best first.
func Verdicts() []Verdict { return slices.Clone(verdicts) }

// Inspect reads s, an id with nothing around it. A nil o means the defaults.
//
// If s is not an id of a known format, the error wraps [ErrUnknown]. It describes a format whose
// ids are as long as s. If there is none, it describes the ObjectId.
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
	_, key, isToken := strings.Cut(s, "46645F69640064") // {"_id": ObjectId} in the encoding of MongoDB's indexes
	if n > 40 {
		s = string([]rune(s)[:40]) + "..."
	}
	if isToken && len(key) >= hexSize {
		return fmt.Errorf("%w: %q: a resume token of a change stream; the _id of its document is %s", ErrUnknown, s, key[:hexSize])
	}
	return fmt.Errorf("%w: %q (length %d); %s", ErrUnknown, s, n, kinds[0].forms[24])
}

// judge sets the time of r to t, unless RFC 3339 cannot express t, and sets the verdict. If t
// is neither before first, when the format came into use, nor in the future, the verdict is
// good, for the given reason.
func (r *Reading) judge(t, first time.Time, o Options, good Verdict, reason string) {
	t = t.UTC()
	if t.Year() <= 9999 {
		r.Time = &t
	}
	r.Verdict, r.Reason = good, reason
	if doubt := doubtful(t, first, o.Now()); doubt != "" {
		r.Verdict, r.Reason = Unlikely, doubt
	}
}

// doubtful returns why no id of a format that came into use at first has the time t, or "".
func doubtful(t, first, now time.Time) string {
	switch {
	case t.Before(first):
		return fmt.Sprintf("the time is before %d, when no such ids existed", first.Year())
	case !era.IsFuture(t, now):
		return ""
	case t.Year() > 9999:
		return fmt.Sprintf("the time is in the year %d", t.Year())
	}
	return "the time is in the future"
}
