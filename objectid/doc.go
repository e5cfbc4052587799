// Package objectid generates, parses and encodes MongoDB ObjectIds: ids of 12 bytes that
// sort by creation time.
//
// Start with [New], which generates an [ID], and [Parse], which reads one. [Since], [Until]
// and [Between] return a [Range] of ids, which finds documents by creation time.
//
// # Promises
//
// A [Generator] never returns an id twice, and each id is greater than all earlier ones, for
// any number of goroutines, at any rate, whatever the clock does.
//
// The time in an id is the second of the call, or a later one: see [Generator.Lead]. A
// generator notices a clock step within 100 ms.
//
// Ids are not secret: whoever sees one can guess its neighbours. Each generator draws its
// process value, 5 of the 12 bytes, at random. Two generators can draw the same value;
// "oid odds" computes the chance.
//
// A copy of a running virtual machine repeats the ids of the original until it draws another
// process value. On Linux with a readable /dev/vmclock0, a generator does so before it returns
// its next id. Elsewhere the copy must call [Generator.Reseed]. If the environment variable
// OID_VMCLOCK names a file, generators use it in place of the device. If that file cannot be
// used, [NewGenerator] fails and [New] panics. If the variable is empty, they use none.
package objectid
