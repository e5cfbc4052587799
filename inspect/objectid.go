package inspect

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/objectid"
)

// layoutParts are the fields of an ObjectId under each layout.
var layoutParts = [...][]part{
	objectid.Modern:  {{"seconds", 32, true}, {"process", 40, false}, {"counter", 24, true}},
	objectid.Classic: {{"seconds", 32, true}, {"machine", 24, false}, {"pid", 16, true}, {"counter", 24, true}},
	objectid.Java:    {{"seconds", 32, true}, {"machine", 16, false}, {"process", 16, false}, {"counter", 32, true}},
}

// electionParts are the fields of an electionId.
var electionParts = []part{{"marker", 32, false}, {"term", 64, true}}

// Buffer is memory that [Inspect] reuses for its reports on ObjectIds, see [Options]. The zero
// Buffer is ready to use.
type Buffer struct {
	readings [3]Reading
	fields   [3][4]Field
	numbers  [3][4]uint64
}

func readObjectID(s string, o Options) (Report, bool) {
	if !objectid.Valid(s) {
		return Report{}, false
	}
	id := objectid.MustParse(s)
	m := o.Buffer
	if m == nil {
		m = new(Buffer)
	}
	report := Report{ID: id.String(), Readings: m.readings[:]}
	all := Reading{Format: ObjectID}
	all.judge(id.Time(), era.First, o, Likely, "")
	if id.IsZero() {
		all.Verdict, all.Reason = Bound, allZeros
	} else if id == objectid.MinAt(id.Time()) {
		all.Verdict, all.Reason = Bound, "only a time: a bound of a range of ids"
	}
	if term, ok := era.Election(id); ok {
		r, parts := &m.readings[0], electionParts
		*r = Reading{Format: ObjectID, Variant: "election", Verdict: Likely, Reason: election(term) + ": an electionId has no creation time"}
		r.Fields = cutInto(m.fields[0][:len(parts):len(parts)], m.numbers[0][:], id[:], report.ID, parts)
		report.Readings = m.readings[:1]
		return report, true
	}
	host := hostOf(id, o.Hosts)
	for i, layout := range layoutsByLikelihood(id.Time(), o.Layout) {
		r, parts := &m.readings[i], layoutParts[layout]
		*r = all
		r.Variant = layout.String()
		r.Fields = cutInto(m.fields[i][:len(parts):len(parts)], m.numbers[i][:], id[:], report.ID, parts)
		if r.Verdict == Likely {
			r.Verdict, r.Reason = judgeLayout(id, layout, host, o)
		}
	}
	return report, true
}

const allZeros = "all zeros: not an id"

// election names the election in which a primary was elected.
func election(term uint32) string { return fmt.Sprintf("election %d of a replica set", term) }

// Doubt returns why the time in id is hardly the time at which a document was created, or "" if
// it may be. By the same rules [Inspect] calls the readings of id unlikely, or gives them no time.
func Doubt(id objectid.ID, now time.Time) string {
	if id.IsZero() {
		return allZeros
	}
	if term, ok := era.Election(id); ok {
		return election(term)
	}
	if doubt := doubtful(id.Time(), era.First, now); doubt != "" {
		return "unlikely: " + doubt
	}
	return ""
}

// layoutsByLikelihood returns all layouts, the most likely for an id of time t first;
// hint, if not nil, comes before all others.
func layoutsByLikelihood(t time.Time, hint *objectid.Layout) []objectid.Layout {
	order := era.Layouts(t)
	if hint == nil {
		return order
	}
	others := slices.DeleteFunc(order, func(l objectid.Layout) bool { return l == *hint })
	return append([]objectid.Layout{*hint}, others...)
}

// hostOf returns the host whose machine bytes are those of id, or "" if it is none of hosts.
func hostOf(id objectid.ID, hosts []string) string {
	machine, _ := classic.Split(id)
	for _, host := range hosts {
		if classic.Machine(host) == machine {
			return host
		}
	}
	return ""
}

// judgeLayout returns how well the layout fits the id and its time. host is the result of
// hostOf.
func judgeLayout(id objectid.ID, layout objectid.Layout, host string, o Options) (Verdict, string) {
	t := id.Time()
	switch {
	case o.Layout != nil && layout == *o.Layout:
		return Likely, "this layout was given"
	case host != "" && layout == objectid.Classic:
		machine, pid := classic.Split(id)
		return Likely, fmt.Sprintf("machine %s is host %s, pid %d", machine, host, pid)
	case host != "" && layout == objectid.Modern:
		return Possible, "its first three random bytes would be the machine bytes of host " + host
	case layout == objectid.Classic && binary.BigEndian.Uint16(id[7:]) == 0:
		return Possible, "pid 0: only multiples of 65536 are written as 0"
	case era.Used(layout, t) == era.Unused:
		return Unlikely, "version 2 of the Java driver wrote this layout, which version 3 replaced in 2015"
	case layout == objectid.Java:
		return Possible, "the layout of version 2 of the Java driver"
	case o.Layout != nil:
		return Possible, "another layout was given"
	case layout == objectid.Modern && era.Used(layout, t) == era.Most:
		return Likely, "drivers have written five random bytes since August 2018"
	case layout == objectid.Modern:
		return Possible, "MongoDB's server, its shell and the first C++ driver wrote random bytes, most drivers only since August 2018"
	case era.Used(layout, t) == era.Most: // but the bytes do not say that no server or shell did
		return Possible, "most drivers wrote machine and pid until 2018"
	default:
		return Possible, "most drivers wrote machine and pid until 2018, and some still do"
	}
}
