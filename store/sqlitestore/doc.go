// Package sqlitestore keeps documents in a SQLite file, which needs no
// installation and which several processes on one machine may share.
//
// Start with [Open], which returns a [store.Store].
//
// # Several processes
//
// Writers take turns: each waits for the others as long as its context allows.
// Readers wait for nobody. The file is in WAL mode, which needs memory that all
// processes share, so Open refuses a file on a network file system.
//
// # What survives
//
// An insert that returned is there after the process is killed. After a loss of
// power the file is sound, but what was committed in the last moments before may
// be missing, unless [Options.Sync] is set. A file that is deleted, moved or replaced
// while it is open takes no more writes, and ends Watch: open it again.
//
// # The file
//
// Each collection is a table of that name, where ^ and upper-case letters are
// preceded by ^, since SQLite's names know no case:
//
//	CREATE TABLE "events" (_id ANY PRIMARY KEY, seq INTEGER, doc BLOB) STRICT, WITHOUT ROWID
//
// _id is an INTEGER, a REAL, a TEXT or a BLOB of 12 bytes, so that SQLite's own
// order is that of the keys; doc is the document with its _id, as BSON; seq is
// the number of the commit that brought it. A range of keys is a search of the
// primary key. Changing rows by other means than this package is possible for
// who keeps _id and doc in step.
//
// [Store.Watch] asks SQLite every [Options.Poll] whether anybody committed. The
// table "^1commits" says of the latest commits which keys they brought, so that
// only this stretch of a collection is read for documents with a new seq; for a
// watcher that is further behind, all of its range is.
package sqlitestore
