// Package objectid generates, parses and encodes MongoDB ObjectIds: identifiers
// of 12 bytes that are generated in-process and sorted by creation time.
//
// Most programs need [New], which generates an [ID], and [Parse], which reads
// one. [Fill] generates many at once. [Between], [Since] and [Until] find the
// documents of a time range by their ids alone.
//
// # What is promised
//
// Within one [Generator] ids are strictly increasing and never repeat, for any
// number of goroutines, at any rate, whatever the clock does: an ID that was
// generated before a call of [Generator.New] began is smaller than the one that
// the call returns.
//
// The time in an ID is the second in which New was called, or a later one up
// to the second in which it returned. There are two exceptions. For at most
// 100 ms after a clock step, ids still carry the second that the clock showed
// before. And when the ids of one second run out, or when the clock was set
// backwards, the time in the ids leads the clock until the clock catches up;
// [Generator.Lead] returns by how much, and [Options].MaxLead limits it at the cost of
// the order. A Modern generator runs out after more
// than 10^9 ids in a second, a Classic one after at most 2^24, and a Java one
// after at least 2^30 from its start and then once in every 2^32 ids.
//
// # What is not promised
//
// Ids are not secret: anyone who has seen one can guess its neighbours. Two
// processes draw their process values at random, so there is a small chance that
// two generators generate the same ids; the command "oid odds" calculates it,
// and package registry removes it. Copying a running virtual machine copies the
// state of its generators, and both copies then generate the same ids, until one of
// them calls [Reseed] or sees its clock jump: see [Generator.Reseed]. Classic
// generators have host and pid in place of a random value; all those of one process
// share a counter.
//
// While a machine is suspended its monotonic clock does not advance. After the resume
// ids can carry the second of before for at most 100 ms, as after a clock step; then
// they carry the second of the clock, and a new process value.
//
// # The zero ID
//
// The zero ID means "no id". It encodes as null in JSON, SQL, BSON and slog,
// and null decodes as the zero ID. Text has no null: there the zero ID is
// written as 24 zeros, and an empty text is an error.
//
// # Design
//
// An ID is three 32-bit words, seconds | block | low. A generator is one 64-bit
// atomic, seconds | low, beside a constant block. Generating an ID is one atomic
// addition, and an overflow of the counter carries into the bits above it. See
// [Layout] for the meaning of those bits.
package objectid
