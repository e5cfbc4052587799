// Package mongostore keeps documents on a MongoDB server, for more than one
// machine. It uses the official driver.
//
// Start with [Open], which returns a [store.Store]. Other programs that use the same
// database, such as mongosh, see ordinary documents with their _id.
//
// # What survives
//
// A write that returned is acknowledged as the URL's write concern asks; the
// server's default is a majority of the replica set. Conditional writes, and all
// calls of [Store.Consistent], are acknowledged by a majority and read from the
// primary whatever the URL says.
//
// # Conditional writes
//
// The server compares the revision of a document, so a program that changes
// documents by other means must change the revision too. A document without a
// revision first gets one as its last field, and the rest of it is then compared.
//
// # Documents of others
//
// Other programs may store documents whose _id is not a [store.Key]: a date, a UUID,
// a document. Only the zero Range contains them.
//
// # Watching
//
// On a replica set or a sharded cluster of MongoDB 5.0 or later, [Store.Watch]
// reads what is there from a snapshot and then the change stream from the
// snapshot's time on, so each document comes once, whatever its id and the time of
// its commit. A snapshot that is not available is tried again for a minute.
// The server keeps a snapshot for five minutes unless configured otherwise; for a
// caller that takes longer the rest is read from a later one. A stream whose cursor
// or connection is lost is resumed after its latest event. The document of an event
// that is too large is read by its key: if it was replaced meanwhile, in its new
// form.
//
// Where the server has no change streams, Watch remembers the keys it has seen,
// about 50 bytes for each. Every second it asks for keys with a time of
// the latest minute. Those committed later than that, and those without a time,
// are found by a pass over all keys of the range. Watch repeats it, and spends at
// most a tenth of the time on it. A narrower range costs less. A document that is deleted and inserted again between two
// passes is not noticed.
//
// # What was tested where
//
// The whole contract was tested on FerretDB 1.24, which has no change streams and
// does not change documents atomically: the server of the tests makes changes take
// turns, and conditional writes are safe on MongoDB only. What Watch, Find and
// Consistent exchange with a replica set was tested with the driver and a scripted
// server. With OID_TEST_MONGODB set to the URL of a MongoDB the tests use that.
package mongostore
