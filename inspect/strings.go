package inspect

import (
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/internal/pattern"
)

// typeID matches a TypeID: a prefix, and a UUID in the digits of a ULID (version 0.3 of the
// TypeID specification). The specification allows an id without a prefix, but Inspect reads
// that as a ULID.
var typeID = pattern.Of(`^([a-z](?:[a-z_]{0,61}[a-z])?)_([0-7][0-9a-hjkmnp-tv-z]{25})$`)

func readTypeID(s string, o Options) (Report, bool) {
	m := typeID.Get().FindStringSubmatch(s)
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
