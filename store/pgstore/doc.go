// Package pgstore keeps documents in a PostgreSQL database, for more than one
// machine.
//
// Start with [Open], which returns a [store.Store]. The URL is PostgreSQL's own,
// with the schema of the tables as one more parameter:
//
//	postgres://user:password@db1,db2/shop?target_session_attrs=read-write&oid_schema=oid
//
// # What survives
//
// A write that returned is committed as the server's setting synchronous_commit
// requires: by default it is on the disk of the primary and, if the server has
// synchronous standbys, on theirs too.
//
// A call whose connection is lost, because the server was restarted or a standby
// became the primary, connects to the host that accepts writes and tries again for
// 30 seconds or until its context ends. If the answer to a commit was lost, the call finds out whether the
// commit was done, so that nothing is written twice and an insert is not refused as a
// duplicate of itself. [Store.Delete] and [Store.DeleteRange] describe what cannot be
// found out. If another writer has replaced a document after Replace stored it and
// before the connection was back, Replace stores its document again.
//
// Deadlocks and serialization failures are tried again too. Calls that write many
// documents write them in the order of their keys, so that these are rare.
//
// # Poolers
//
// A pooler that lends a connection for one transaction, such as pgbouncer with
// pool_mode = transaction, is detected when the store opens: statements are then not
// kept prepared, and Watch polls. Nothing has to be configured.
//
// # The tables
//
// Each collection is a table of that name in the schema:
//
//	CREATE TABLE oid.events (
//		_id  bytea  PRIMARY KEY,
//		doc  bytea  NOT NULL,
//		xid  xid8   NOT NULL DEFAULT pg_current_xact_id(),
//		call bigint NOT NULL)
//
// _id is the key in bytes whose order is that of the keys: a tag, then the number,
// the string or the twelve bytes of the ObjectId (after 30 in hexadecimal), so a range
// of keys is a scan of the primary key. A string has at most 2,600 bytes. doc is
// the document with its _id, as BSON; xid is the transaction that inserted it, and
// call a random number of the call that did. A name that begins with ^ has ^0 before
// it. A name of more than 63 bytes, which PostgreSQL does not have, is ^2 with a digest
// and the name's beginning; the comment of the table is the name. The table ^1format
// holds the version of all this, and Open refuses one that it does not know.
//
// Documents that are replaced many times a second, such as records with a heartbeat,
// stay in their place if there is room for the next version beside them. SwapMany
// therefore sets the fillfactor of a table that has none to 50; other values can be
// set with ALTER TABLE.
//
// # Watching
//
// [Store.Watch] compares PostgreSQL's snapshots: it reads the documents of the
// transactions that can be seen now and could not be seen before, whenever and in
// whatever order those began. Nothing is missed, and a transaction that takes a long
// time holds nobody up. Writers notify watchers with NOTIFY, in a transaction of its
// own and at most fifty times a second; where notifications do not arrive Watch looks
// every 200 ms. The table is read by the index of xid.
//
// On a standby Watch sees a document when all transactions that began before its own
// have ended. If a standby that had not received everything becomes the primary, Watch
// ends with an error as soon as it notices: what it had returned may be gone.
//
// # Proven on
//
// The tests run on PostgreSQL 15 and on pgbouncer 1.18 in front of it. PostgreSQL 13
// is the oldest that has the functions in use. Servers that speak PostgreSQL's
// protocol need pg_current_xact_id, pg_current_snapshot and the type xid8.
package pgstore
