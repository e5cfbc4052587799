// Package era holds the facts about when ids can have been created and which
// layouts of ObjectIds were in use then. Every package that judges the time of an id
// takes them from here.
package era

import "time"

var (
	// First is the beginning of the year in which MongoDB was released. ObjectIds
	// from before it are not plausible.
	First = date(2009, time.January)

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
