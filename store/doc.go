// Package store keeps documents by their _id, and finds them by creation time
// through that key alone.
//
// An ObjectId begins with its creation time in seconds, so the primary key of a
// collection is already an index of time: no timestamp field and no second index
// are needed. Start with [Store], which describes what all engines do. Package
// sqlitestore keeps documents in one file that several processes may share,
// pgstore in a PostgreSQL database and mongostore on a MongoDB server; memstore, for
// tests and trials, keeps them in the memory of the process. The documents of a time
// range are one [Query]:
//
//	q := store.Query{Range: store.IDRange(objectid.Since(yesterday))}
//	for doc, err := range s.Find(ctx, "events", q) {
//
// # Documents
//
// A document is BSON, given as anything that [bson.Marshal] takes and returned
// as [bson.Raw]. Its _id is its first field, as in MongoDB; every engine keeps
// all other bytes as they were given. A document without
// an _id gets an ObjectId. A document has at most 16 MiB
// ([MaxSize]) with its revision, see below, or the room for one, and 100 levels
// ([MaxDepth]), which are MongoDB's own limits.
//
// A [Key] is an _id: a number, a string or an ObjectId. Keys are in that order, which
// is MongoDB's.
//
// # Conditional writes
//
// To change a document that others may change too, read it, and write it with
// [Store.Swap]: that fails with [ErrConflict] if another write came in between. Then read
// it again and decide again.
//
//	for {
//		old, err := s.Get(ctx, "accounts", key)
//		...
//		_, err = s.Swap(ctx, "accounts", old, changed)
//		if !errors.Is(err, store.ErrConflict) {
//			return err
//		}
//	}
//
// Every document that Swap writes has the field _rev ([Revision]) after its _id:
// an ObjectId that is new at each write, so that a document that was changed and
// changed back is not taken for the old one. Insert and Replace renew the field if
// their document has it, unless its value is not an ObjectId. A document needs no revision for its first
// Swap. A program that writes to the same database by other means must set _rev
// to a new ObjectId, or remove it, with every change.
//
// # Starting without the store
//
// A program that must start while its store cannot be reached opens it with [OpenLater].
//
// # What is promised
//
// A write that returned is stored: except in memstore, it survives the end of the process,
// also by SIGKILL. The engines document what survives a loss of power. A reader sees a document
// as it was before a write or as it is after it.
//
// [Store.Find] returns, once and in the order of the keys, every document that
// existed when it began and was not deleted before Find reached it. It is not a
// snapshot: what is inserted or deleted meanwhile may be seen or not.
//
// # What is not promised
//
// The time in an id comes from the clock of the process that generated it. A time
// range is as accurate as those clocks were.
package store
