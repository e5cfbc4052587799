// Package storelock holds locks in a store, for programs whose machines share a
// database and no Redis. See package lock for what a lock promises and what it does
// not.
//
// Start with [New]. It needs only the conditional writes of the store, so it runs on
// every engine of package store. It does not compare clocks: a waiter takes a lock
// over only after it has itself seen the holder's record unchanged for the holder's
// whole TTL.
//
// # The record
//
// Each lock is a document of the collection [DefaultCollection], whose _id is the
// name. It is never deleted, because it contains the fence:
//
//	{_id: "nightly-report", fence: 1795166651598985, owner: "10.0.0.7:...", beat: ObjectId,
//	 ttl_seconds: 30, since: Date, queue: ["10.0.0.8:...", ...], ...}
//
// The holder writes a new beat with each renewal, at a third of the TTL. Every write
// is a swap: it succeeds only if no other process has written in between.
//
// # Taking over
//
// A waiter notes the time, by its monotonic clock, at the end of the first read that
// shows a beat. It takes over if a read that begins a whole TTL later shows the same
// beat. The holder counts its deadline, a twentieth less than the TTL, from before the
// write of that beat, which is earlier than any read of it. So its lease has ended
// before the waiter takes over, if their clocks run at the same speed to within 5 %. A
// waiter on the holder's host takes over earlier if the kernel reports that the holder
// and its group have ended.
//
// # Waiting
//
// Waiters enter the queue of the record and read the record again and again. The first
// in the queue waits between two reads for a twentieth of the time for which the record
// has not changed, 5 to 250 ms; each of the others waits longer, in proportion to its
// place, up to 250 ms. A lock that is released is reserved for the first in the queue. If
// another waiter sees it free for a second, the first has died or was
// stopped: the other takes the lock and removes the first from the queue.
package storelock
