// Package era knows when ids of each format can have been created, and which layouts of
// ObjectIds were in use at which time. Every package that judges the time of an id uses it.
package era

import (
	"encoding/binary"
	"time"

	"github.com/oidkit/oid/objectid"
)

var (
	// First is the beginning of the year in which MongoDB was released. An ObjectId with an
	// earlier time is not plausible.
	First = date(2009, time.January)

	// The times at which other formats came into use.
	UUID  = date(1998, time.January)
	ULID  = date(2016, time.January)
	KSUID = date(2014, time.May) // its own epoch
	XID   = date(2015, time.January)

	Mastodon = date(2017, time.October)   // its version 2.0
	GPID     = date(2001, time.September) // the first start time with 16 digits
)

// Random is the time at which drivers replaced machine and pid by five random bytes. Many
// programs run for years with the driver with which they were built. This is known of the
// drivers:
//
//	classic  all until 2018         MongoDB's ObjectId specification before 2018
//	         PyMongo before 3.8     PYTHON-1619, merged on 2018-08-23
//	         js-bson up to 3.0      issue 271: 3.0.2 of August 2018 writes a pid
//	         Java 3.0 to 3.6        tried 3.6.3: machine bytes are not md5(host name)
//	         bson-ruby before 5.0   of February 2024; 4.15 writes md5(host name) and pid
//	java     Java driver 2          replaced by version 3.0 in 2015, then still maintained
//	modern   MongoDB server, its    src/mongo/bson/oid.cpp: a nonce or the system's random
//	         shell, first C++       source, until 2.6 with the pid mixed in by exclusive or
//	         all since 2018         the ObjectId specification of 2018
var Random = date(2018, time.August)

// Use says how many drivers wrote a layout.
type Use int

const (
	Unused Use = iota // no known driver wrote it
	Some              // some drivers wrote it
	Most              // the drivers of most languages wrote it
)

// Used returns how many drivers wrote the layout at time t, according to their release dates.
func Used(l objectid.Layout, t time.Time) Use {
	switch random := !t.Before(Random); {
	case t.Before(First) || random && l == objectid.Java:
		return Unused
	case random && l == objectid.Modern || !random && l == objectid.Classic:
		return Most
	}
	return Some
}

// Layouts returns all layouts, the most likely for an id of time t first.
func Layouts(t time.Time) []objectid.Layout {
	if t.Before(Random) {
		return []objectid.Layout{objectid.Classic, objectid.Java, objectid.Modern}
	}
	return []objectid.Layout{objectid.Modern, objectid.Classic, objectid.Java}
}

// Tolerance is how far the clock of another host may be ahead of ours. An id whose time is
// further ahead is from the future.
const Tolerance = 5 * time.Minute

func date(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// IsFuture reports whether t, the time of an id, is later than now by more than [Tolerance].
func IsFuture(t, now time.Time) bool { return t.After(now.Add(Tolerance)) }

// Election returns the term of an electionId. The primary of a replica set has an electionId of
// the form of an ObjectId, and MongoDB's servers and drivers log it. It is no id of a document and
// has no creation time: instead of seconds it has the largest signed number, 7fffffff, and then
// the term of the election in 64 bits.
//
// Terms count elections from 1, so ok is false if the term is 0 or has more than 32 bits. An
// ObjectId created at that second, 2038-01-19T03:14:07Z, would need four process bytes of 0.
func Election(id objectid.ID) (term uint32, ok bool) {
	term = binary.BigEndian.Uint32(id[8:])
	return term, term > 0 && binary.BigEndian.Uint64(id[:]) == 0x7fffffff<<32
}
