// Package objectid makes, reads and stores MongoDB ObjectIds: identifiers of
// 12 bytes that are born in the process that needs them and that sort by the
// time of their birth.
//
// Start with [New], which makes an [ID], and [Parse], which reads one. Make
// many at once with [Fill]. Find the documents of a stretch of time by their
// ids alone with [Between], [Since] and [Until].
//
// # What is promised
//
// Within one [Generator] ids are strictly increasing and never repeat, for any
// number of goroutines, at any rate, whatever the clock does: an ID that was
// made before a call of [Generator.New] began is smaller than the one that the
// call returns.
//
// The time in an ID is the second in which it was asked for, or a later one up
// to the second in which it was returned. There are two exceptions. For at
// most 100 ms after somebody steps the system clock, ids still carry the
// second that the clock showed before. And where the ids of one second run out,
// or where the clock has gone back, the ids' time leads the clock until the
// clock has caught up; [Generator.Ahead] tells by how much. A Modern generator
// runs out after more than 10^9 ids in a second, a Classic one after at most
// 2^24, and a Java one after at least 2^30 following its start and then once in
// every 2^32 ids.
//
// # What is not promised
//
// Ids are not secret: whoever has seen one can guess its neighbours. Two
// processes draw their process values at random, so two generators may, with a
// small chance, make the same ids; the command "oid odds" calculates it, and
// package registry removes it. A virtual machine that is copied while it runs
// takes its generators' states along, and both copies then make the same ids.
//
// # Nothing and null
//
// The zero ID means "no id". It is written as null in JSON, SQL, BSON and
// slog, and null is read as the zero ID by all of them. Text has no null: the
// zero ID is written there as 24 zeros, and an empty text is an error.
//
// # Design
//
// An ID is three 32-bit words, seconds | block | low. A generator is one 64-bit
// atomic, seconds | low, beside a constant block, so that making an ID is one
// atomic addition, and a counter that overflows carries by itself into whatever
// stands above it. See [Layout] for what that is.
package objectid
