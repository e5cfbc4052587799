// Package objectid generates, parses and encodes MongoDB ObjectIds: ids of 12 bytes that
// sort by creation time.
//
// Start with [New], which generates an [ID], and [Parse], which reads one. [Since], [Until]
// and [Between] return a [Range] of ids, which finds documents by time.
//
// In comparison, bson.ObjectID has the same bytes, but repeats ids beyond 2^24 in a second and
// decreases when the clock is set back. xid has 12 bytes as well, with machine and pid in
// them. ulid has 16 bytes, with milliseconds and 80 random bits.
//
// # Promises
//
// A [Generator] never returns an id twice, and each id is greater than those of the calls
// before, for any number of goroutines, at any rate, whatever the clock does. The time in an
// id is the second of the call. [Generator.Lead] tells when it is a later one, and for 100 ms
// after a clock step it may be the old one.
//
// Ids are not secret: whoever sees one can guess its neighbours. Two processes draw their
// process values at random, so they can collide; "oid odds" computes how rarely. A copy of a
// running machine repeats the ids of the original, see [Generator.Reseed].
//
// # The zero ID
//
// The zero ID means "no id". It encodes as null in JSON, SQL, BSON and slog, and null decodes
// as the zero ID. Text has no null: there it is 24 zeros.
package objectid
