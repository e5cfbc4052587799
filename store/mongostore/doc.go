// Package mongostore keeps documents on a MongoDB server, for more than one
// machine. It is the official driver under the contract of package store.
//
// Start with [Open], which returns a [store.Store]. Whatever else speaks to the
// same database, such as mongosh, sees ordinary documents with an ordinary _id.
//
// # What survives
//
// An insert that returned is acknowledged as the URL's write concern asks; the
// server's default is a majority of the replica set.
//
// # Documents of others
//
// A collection that others fill may hold documents whose _id is no [store.Key]: a
// date, a UUID, a document. They belong to the zero Range and to no other.
//
// # Watching
//
// On a replica set or a sharded cluster of MongoDB 5.0 or later, [Store.Watch]
// reads what is there from a snapshot and then the change stream from the
// snapshot's time on, so each document comes once whenever and with whatever id
// it was committed. The server keeps a snapshot for five minutes unless told
// otherwise, which bounds the time that a caller may take for what is there
// already.
//
// Where the server has no change streams, Watch remembers the keys it has seen,
// about 50 bytes for each. Every [Options.Poll] it asks for keys with a time of
// the latest minute. Those committed later than that, and those without a time,
// are found by a pass over all keys of the range, which Watch makes as often as it
// can without being busy with it for more than a tenth of the time. A narrower
// range is a cheaper one. A document that is deleted and inserted anew between two
// passes is not noticed.
package mongostore
