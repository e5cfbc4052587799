// Package storelock holds locks in a store, for those who have a database that all
// their machines reach and no Redis. See package lock for what a lock promises and
// what it cannot.
//
// Start with [New]. It needs nothing of the store but conditional writes, so it runs
// on every engine of package store, and it trusts nobody's clock: a waiter takes a
// lock over only after it has itself seen the holder's record unchanged for the
// holder's whole TTL.
//
// # The record
//
// Each lock is a document of the collection [DefaultCollection], whose _id is the
// name. It is never deleted, because it holds the fence:
//
//	{_id: "nightly-report", fence: 1795166651598985, owner: "10.0.0.7:...", beat: ObjectId,
//	 ttl_seconds: 30, since: Date, queue: ["10.0.0.8:...", ...], ...}
//
// The holder writes a new beat with each renewal, at a third of the TTL. Every write
// is a swap: it succeeds only if nobody has written in between.
//
// # Taking over
//
// A waiter notes the beat at the end of the first read that shows it, and takes over
// if a read that begins a whole TTL later, by its monotonic clock, shows the same. The
// holder counts its own deadline, a twentieth short of the TTL, from before the write
// of that beat, which was earlier than any read of it. So it has stopped before the
// waiter takes over, if their clocks run at the same speed to within 5 %. A waiter on
// the holder's host need not wait so long if the kernel says that the holder and its
// group have ended.
//
// # Waiting
//
// Waiters enter the queue of the record and read it again and again: the first after
// 5 to 250 ms, which is a twentieth of the time for which it stays the same, and others
// after as many times that as there are before them, 250 ms at most. A lock that is
// released is reserved for the first in the queue. If that has not taken it while
// another has seen it free for [reservation], it has died or was stopped: the other
// takes the lock and drops it from the queue.
package storelock
