package era

import (
	"slices"
	"sync"
	"time"

	"github.com/oidkit/oid/objectid"
)

// Driver is what is known of a program that creates ids: which layout it wrote, from
// when and until when. Programs that were built with it go on for years.
type Driver struct {
	Name   string
	Layout objectid.Layout
	From   time.Time
	Until  time.Time // when another layout replaced it; zero if none has
	Most   bool      // the drivers of most languages
	Source string
}

// Drivers are the drivers whose dates are known, by layout and time.
var Drivers = []Driver{
	{"drivers", objectid.Classic, First, Random, true, "MongoDB's ObjectId specification of drivers before 2018"},
	{"PyMongo before 3.8", objectid.Classic, First, Random, false, "PYTHON-1619, merged on 2018-08-23"},
	{"js-bson up to 3.0", objectid.Classic, First, Random, false, "js-bson issue 271: 3.0.2 of August 2018 writes a pid"},
	{"Java driver 3.0 to 3.6", objectid.Classic, Java3, Random, false, "3.6.3 run; its machine bytes are not md5(host name)"},
	{"bson-ruby", objectid.Classic, First, time.Time{}, false, "4.15 run: writes md5(host name) and pid"},
	{"Java driver 2", objectid.Java, First, Random, false, "maintained beside 3.0, which adopted the layout of the others in 2015"},
	{"MongoDB server, its shell and the first C++ driver", objectid.Modern, First, time.Time{}, false, "src/mongo/bson/oid.cpp: a nonce or the system's random source, until 2.6 with the pid mixed in by exclusive or; the first version that did is not known"},
	{"drivers", objectid.Modern, Random, time.Time{}, true, "the ObjectId specification of 2018; PYTHON-1619"},
}

var (
	// Random is when drivers replaced machine and pid by five random bytes.
	Random = date(2018, time.August)

	// Java3 is when version 3 of the Java driver adopted the layout of the other
	// drivers. Version 2 kept its own.
	Java3 = date(2015, time.March)
)

// Use is how much a layout was in use.
type Use int

// The uses of a layout: no driver is known that wrote it; some did; those of most
// languages did.
const (
	Unused Use = iota
	Some
	Most
)

// Used returns how much the layout was in use at time t, by the dates of releases.
func Used(l objectid.Layout, t time.Time) Use { return spanOf(t).used[l] }

// Layouts returns all layouts, the most likely for an id of time t first.
func Layouts(t time.Time) []objectid.Layout { return slices.Clone(spanOf(t).layouts) }

// span is a time in which no driver began or ended to write a layout.
type span struct {
	from    time.Time
	used    [objectid.Java + 1]Use
	layouts []objectid.Layout // the most likely one first
}

// spans are all times, the latest first.
var spans = sync.OnceValue(func() (all []span) {
	dates := []time.Time{{}}
	for _, d := range Drivers {
		dates = append(dates, d.From, d.Until)
	}
	slices.SortFunc(dates, func(a, b time.Time) int { return b.Compare(a) })
	for _, from := range slices.Compact(dates) {
		s := span{from: from, layouts: []objectid.Layout{objectid.Classic, objectid.Java, objectid.Modern}}
		if !from.Before(Random) {
			s.layouts = []objectid.Layout{objectid.Modern, objectid.Classic, objectid.Java}
		}
		for _, d := range Drivers {
			switch use := &s.used[d.Layout]; {
			case from.Before(d.From) || !d.Until.IsZero() && !from.Before(d.Until):
			case d.Most:
				*use = Most
			default:
				*use = max(*use, Some)
			}
		}
		slices.SortStableFunc(s.layouts, func(a, b objectid.Layout) int { return int(s.used[b] - s.used[a]) })
		all = append(all, s)
	}
	return all
})

func spanOf(t time.Time) span {
	all := spans()
	return all[slices.IndexFunc(all, func(s span) bool { return !t.Before(s.from) })]
}
