package inspect

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/internal/pattern"
)

// typeID is a prefix and a UUID in the digits of a ULID, after version 0.3 of the
// TypeID specification. The prefix may be absent, but such an id looks like a ULID.
var typeID = pattern.Of(`^([a-z](?:[a-z_]{0,61}[a-z])?)_([0-7][0-9a-hjkmnp-tv-z]{25})$`)

func readTypeID(s string, o Options) (Report, bool) {
	m := typeID().FindStringSubmatch(s)
	if m == nil {
		return Report{}, false
	}
	id, err := ulid.ParseStrict(m[2])
	if err != nil {
		return Report{}, false
	}
	inner, ok := readUUID(fmt.Sprintf("%x", id[:]), o)
	if !ok {
		return Report{}, false
	}
	report := Report{ID: s}
	for _, r := range inner.Readings {
		if r.Format == UUID {
			r.Reason = strings.TrimSpace("UUID "+r.Variant) + ": " + r.Reason
			r.Format, r.Variant = TypeID, m[1]
			report.Readings = append(report.Readings, r)
		}
	}
	return report, true
}

// cuid2 is a CUID2 of the default length.
var cuid2 = pattern.Of(`^[a-z][0-9a-z]{23}$`)

// readCUID2 refuses what is more likely a mistyped ObjectId, and words: random letters
// and digits of 36 kinds have some of each kind.
func readCUID2(s string, _ Options) (Report, bool) {
	const beyondHex = 4
	n := 0
	for _, c := range s {
		if c >= 'g' && c <= 'z' {
			n++
		}
	}
	if !cuid2().MatchString(s) || n < beyondHex || !strings.ContainsAny(s, "0123456789") {
		return Report{}, false
	}
	r := Reading{Format: CUID2, Fields: []Field{}, Verdict: Possible, Reason: "24 lower-case letters and digits after a letter: a hash without a time"}
	return Report{ID: s, Readings: []Reading{r}}, true
}

// pushText is base64 with the digits of push ids, in their order as characters.
var pushText = base64.NewEncoding("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz").WithPadding(base64.NoPadding)

// readPushID reads the keys that the Firebase Realtime Database creates: 48 bits of
// milliseconds and 72 random bits. The first character is a hyphen until the year
// 2109.
func readPushID(s string, o Options) (Report, bool) {
	if len(s) != 20 || s[0] != '-' {
		return Report{}, false
	}
	id, err := pushText.DecodeString(s)
	if err != nil || len(id) != 15 { // it leaves out line feeds
		return Report{}, false
	}
	r := Reading{Format: PushID, Fields: cut(id, part{"milliseconds", 48, true}, part{"random", 72, false})}
	r.judge(time.UnixMilli(int64(*r.Fields[0].Number)), era.PushID, o, Likely, plausibleTime)
	return Report{ID: s, Readings: []Reading{r}}, true
}

// readGPID reads the identity of a process. Its time is the start of the process.
func readGPID(s string, o Options) (Report, bool) {
	g, err := gpid.Parse(s)
	if err != nil {
		return Report{}, false
	}
	b, _ := g.MarshalBinary()
	r := Reading{Format: GPID, Fields: cut(b, part{"address", 128, false}, part{"port", 16, true}, part{"start", 64, true}, part{"pid", 48, true})}
	r.judge(g.Start(), era.GPID, o, Likely, "a process; the time is its start")
	return Report{ID: g.String(), Readings: []Reading{r}}, true
}
