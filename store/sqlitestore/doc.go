// Package sqlitestore keeps documents in a SQLite file, which needs no
// installation and which several processes on one machine may share.
//
// Start with [Open], which returns a [store.Store].
//
// # Several processes
//
// Writers take turns: each waits for the others as long as its context allows.
// Readers do not wait. The file is in WAL mode, which needs memory that all
// processes share, so Open refuses a file on a network file system.
//
// # What survives
//
// A write that returned survives the end of the process. After a loss of power the
// file is sound, but what was committed in the last moments before may be missing,
// unless [Options.Sync] is set.
//
// # Copying and moving the file
//
// While a store is open, its latest commits are in the file PATH-wal. A copy of
// the file alone, made with cp for example, does not have them, and a copy of both
// files may be damaged if anybody writes meanwhile. [Store.Backup] copies a store
// that is in use.
//
// A store whose file was deleted, moved or replaced while it is open refuses writes
// and ends Watch: open it again. The first process that notices that the path has no
// file any more, at the latest when it closes the store, copies the latest commits
// into the moved file, which is then complete. If that fails, the error names the file
// PATH-wal: move it beside the moved file, with that file's name and -wal. This is also
// necessary if all processes are killed before they notice.
//
// # A folder that is not writable
//
// With [Options.ReadOnly] a store can be read where nothing may be written, on a read-only
// disk or by a user without the right to. If its folder has no memory that processes share
// (PATH-shm), it cannot be created there: the file is then read as one that does not
// change, and calls return an error as soon as another process begins to write. Open the
// store again then. Commits that were left in PATH-wal without PATH-shm cannot be read there;
// copy the files to a folder that is writable.
//
// # A full disk
//
// A write without enough space stores nothing and fails. A delete also needs a little
// space for the log; it uses what the log has already allocated.
//
// # Space
//
// After many deletions the file gives back what it does not need: when nothing has been
// deleted for ten seconds, a minute after the first at the latest, or at Close. It keeps
// a tenth of its size for documents to come.
//
// # The file
//
// Each collection is a table of that name, where ^ and upper-case letters are
// preceded by ^, since SQLite's names are case-insensitive:
//
//	CREATE TABLE "events" (_id ANY PRIMARY KEY, seq INTEGER, doc BLOB) STRICT, WITHOUT ROWID
//
// _id is an INTEGER, a REAL, a TEXT or a BLOB of 12 bytes, so that SQLite's own
// order is that of the keys; doc is the document with its _id, as BSON; seq is
// the number of the commit that inserted it. A range of keys is a search of the
// primary key. Other programs may change rows if they keep _id and doc consistent.
// PRAGMA user_version is the version of this format, 1.
//
// [Store.Watch] asks SQLite every [Options.Poll] whether there are new commits. The
// table "^1commits" records which keys the latest commits inserted, so that only
// these parts of a collection are read for documents with a new seq; for a watcher
// that is further behind, all of its range is.
package sqlitestore
