// Package store keeps documents by their _id and finds them by time with
// nothing but that key.
//
// An ObjectId begins with the second of its making, so the primary key of a
// collection is already an index of time: no timestamp field, no second index,
// nothing to forget until a query times out. Start with [Store], which says
// what both engines do; package sqlitestore keeps documents in one file that
// several processes may share, package mongostore on a MongoDB server. The
// documents of a stretch of time are one [Query]:
//
//	q := store.Query{Range: store.Ids(objectid.Since(yesterday))}
//	for doc, err := range s.Find(ctx, "events", q) {
//
// # Documents
//
// A document is BSON, given as anything that [bson.Marshal] takes and returned
// as [bson.Raw]. Its _id is the first of its fields, where MongoDB has it too;
// every other byte is kept as it was given, by both engines. A document without
// an _id gets an ObjectId. A document has at most 16 MiB ([MaxSize]) and 100
// levels ([MaxDepth]), which are MongoDB's own limits.
//
// A [Key] is what an _id can be here: a number, a string or an ObjectId, in that
// order, which is MongoDB's.
//
// # What is promised
//
// An insert that returned is stored: it is there after the process is killed,
// and what survives a loss of power is said by each engine. An insert or a
// replacement is seen completely or not at all.
//
// [Store.Find] returns every document that was there when it began and was not
// deleted before it got there, once and in the order of the keys. It is not a
// snapshot: what is inserted or deleted meanwhile may be seen or not.
//
// [Store.Watch] misses nothing, also where a document is committed after another
// one whose id is greater, which happens all the time: ids are made before the
// document is sent, in several processes, by clocks that differ. Reading on from
// the greatest id seen would miss it. Therefore the file engine numbers its
// commits, keeps the number with each document, and follows those; mongostore
// follows the server's change stream, and where the server has none it compares
// keys with those it has seen, see there.
//
// # What is not promised
//
// The time in an id is that of the clock of whoever made it. A range of time is
// as right as those clocks were.
package store
