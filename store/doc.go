// Package store is a document store with one interface, [Store], and four engines. It
// keeps BSON documents in collections and finds them by _id, and so also by creation time.
//
// An ObjectId begins with its creation time in seconds, so the primary key of a
// collection is already an index of time: no timestamp field and no second index
// are needed. A [Query] with a time range reads only that range of the key:
//
//	q := store.Query{Range: store.IDRange(objectid.Since(yesterday))}
//	for doc, err := range s.Find(ctx, "events", q) {
//
// # Engines
//
// An engine is a package that opens a Store:
//
//   - sqlitestore: one SQLite file, which several processes of a machine may share
//   - pgstore: a PostgreSQL database
//   - mongostore: a MongoDB server
//   - memstore: the memory of the process, for tests and trials
//
// A program that must start even if its database is unreachable calls [OpenLater].
//
// # Documents
//
// A document is BSON. The methods of Store accept any value that [bson.Marshal] accepts,
// and return [bson.Raw]. Engines put the _id first, as MongoDB does, and store all
// other fields byte for byte as they were given. A document without an _id gets an
// ObjectId. A document has at most 16 MiB ([MaxSize]) and 100 levels of nesting
// ([MaxDepth]), which are also MongoDB's limits.
//
// A [Key] is the value of an _id: a number, a string or an ObjectId. Keys are ordered as
// in MongoDB: numbers, then strings, then ObjectIds.
//
// # Conditional writes
//
// To change a document that others may change at the same time, read it, then write it
// with [Store.Swap]. If the document was written in between, Swap fails with
// [ErrConflict]: read it again and decide again.
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
// A revision is the field _rev ([Revision]) of a document, an ObjectId. Swap sets it to a
// new value at every write, so it notices even a document that was changed and then
// changed back. If a document has no revision yet, its first Swap works too, and adds one.
// Insert and Replace add no revision. If the document that they are given has one, they store
// it with a new value. A field _rev that is not an ObjectId is not a revision: Insert and
// Replace leave it alone, and Swap refuses the document.
//
// A program that writes to the database without this package must set _rev to a new
// ObjectId, or remove it, whenever it changes a document.
//
// # What is promised
//
// When a write returns, the document is stored. Except in memstore, it survives the end of
// the process, even by SIGKILL. Each engine's package comment says what survives a power
// failure. A reader sees a document either as it was before a write or as it is after it.
//
// [Store.Find] returns every document that existed when it began, unless the document is
// deleted before Find reaches it. It returns each document once, in the order of the keys.
// Find is not a snapshot: it may or may not return documents that are inserted meanwhile.
//
// # What is not promised
//
// The time in an id comes from the clock of the process that generated it. A time
// range is only as accurate as those clocks.
package store
