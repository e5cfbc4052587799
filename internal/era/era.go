// Package era holds the facts about when ids can have been created and which
// layouts of ObjectIds were in use then. Every package that judges the time of an id
// takes them from here.
package era

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

var (
	// First is the beginning of the year in which MongoDB was released. ObjectIds
	// from before it are not plausible.
	First = date(2009, time.January)

	// RandomValue is when MongoDB's drivers replaced machine and pid by five
	// random bytes.
	RandomValue = date(2018, time.January)

	// JavaEnd is when version 3 of the Java driver adopted the layout of the other
	// drivers.
	JavaEnd = date(2015, time.March)

	// When other formats came into use.
	UUID  = date(1998, time.January)
	ULID  = date(2016, time.January)
	KSUID = date(2014, time.May) // its own epoch
	XID   = date(2015, time.January)

	Mastodon = date(2017, time.October)   // its version 2.0
	PushID   = date(2012, time.April)     // Firebase's first year
	GPID     = date(2001, time.September) // the first start time with 16 digits
)

// Tolerance is how far the clock of another host may be ahead. An id that is
// further ahead is from the future.
const Tolerance = 5 * time.Minute

func date(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// IsFuture reports whether an id of time t is from the future, at the time now.
func IsFuture(t, now time.Time) bool { return t.After(now.Add(Tolerance)) }

// Layouts returns all layouts, the most likely for an id of time t first.
func Layouts(t time.Time) []objectid.Layout {
	if t.Before(RandomValue) {
		return []objectid.Layout{objectid.Classic, objectid.Java, objectid.Modern}
	}
	return []objectid.Layout{objectid.Modern, objectid.Classic, objectid.Java}
}
