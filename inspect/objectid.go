package inspect

import (
	"encoding/binary"
	"time"

	"github.com/oidkit/oid/objectid"
)

var (
	// firstObjectID is when MongoDB was first released.
	firstObjectID = date(2009, time.February)
	// randomValue is when MongoDB's drivers went from machine and pid to five
	// random bytes.
	randomValue = date(2018, time.January)
	// java3 is when version 3 of the Java driver took up the others' layout.
	java3 = date(2015, time.March)
)

// layoutParts are the fields of an ObjectId, under each layout.
var layoutParts = map[objectid.Layout][]part{
	objectid.Modern:  {{"seconds", 32, true}, {"process", 40, false}, {"counter", 24, true}},
	objectid.Classic: {{"seconds", 32, true}, {"machine", 24, false}, {"pid", 16, true}, {"counter", 24, true}},
	objectid.Java:    {{"seconds", 32, true}, {"machine", 16, false}, {"process", 16, false}, {"counter", 32, true}},
}

func readObjectID(s string, o Options) (Report, bool) {
	id, err := objectid.Parse(s)
	if err != nil {
		return Report{}, false
	}
	report := Report{ID: id.String()}
	for _, layout := range layoutsBySuspicion(id.Time(), o.Layout) {
		r := Reading{Format: "objectid", Variant: layout.String(), Fields: cut(id[:], layoutParts[layout]...)}
		verdict, why := judgeLayout(id, layout, o)
		r.judge(id.Time(), firstObjectID, o, verdict, why)
		if id.IsZero() {
			r.Verdict, r.Why = Bound, "all zeros: no id at all"
		} else if id == objectid.At(id.Time()) {
			r.Verdict, r.Why = Bound, "nothing but a time: an end of a range of ids"
		}
		report.Readings = append(report.Readings, r)
	}
	return report, true
}

// layoutsBySuspicion returns all layouts in the order in which they come to mind
// for an id of time t; hint, if not nil, comes first.
func layoutsBySuspicion(t time.Time, hint *objectid.Layout) []objectid.Layout {
	order := []objectid.Layout{objectid.Modern, objectid.Classic, objectid.Java}
	if t.Before(randomValue) {
		order = []objectid.Layout{objectid.Classic, objectid.Java, objectid.Modern}
	}
	if hint == nil {
		return order
	}
	hinted := []objectid.Layout{*hint}
	for _, l := range order {
		if l != *hint {
			hinted = append(hinted, l)
		}
	}
	return hinted
}

// judgeLayout says how well the layout suits the id and its time.
func judgeLayout(id objectid.ID, layout objectid.Layout, o Options) (Verdict, string) {
	t := id.Time()
	switch {
	case o.Layout != nil && layout == *o.Layout:
		return Likely, "the maker is known to use this layout"
	case layout == objectid.Modern && t.Before(randomValue):
		return Possible, "drivers wrote machine and pid until 2018"
	case layout == objectid.Classic && binary.BigEndian.Uint16(id[7:]) == 0:
		return Unlikely, "no process has the pid 0"
	case layout == objectid.Java && !t.Before(java3):
		return Unlikely, "the Java driver gave this layout up in 2015"
	case layout == objectid.Java:
		return Possible, "the Java driver's layout until 2015"
	case o.Layout != nil:
		return Possible, "the maker is said to use another layout"
	case layout == objectid.Modern:
		return Likely, "drivers have written five random bytes since 2018"
	case t.Before(randomValue):
		return Likely, "drivers wrote machine and pid until 2018"
	default:
		return Possible, "drivers wrote machine and pid until 2018, and some still do"
	}
}
