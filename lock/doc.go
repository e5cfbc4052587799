// Package lock gives out locks by name: at most one holder has a name at a time,
// everybody can see who that is, and a holder that can no longer be sure of its
// lock stops before the next begins.
//
// Start with [Do], which takes a lock, runs a function and releases the lock.
// [Locker.Acquire] and [Lease.Release] do the same by hand. The engines are
// redislock and storelock, for more than one machine, and filelock, for one.
//
// # Four ways to lose
//
// The simple lock in Redis, SETNX, then EXPIRE, then DEL, fails in four ways,
// which a test of package redislock shows:
//
//   - its client dies between SETNX and EXPIRE, and the lock is held for ever;
//   - its holder continues after its time is up, and DEL removes the lock of the
//     next holder;
//   - its holder works on after its time is up, beside the next holder;
//   - nobody can see who holds it.
//
// A [Lease] here is taken together with its time in one step, is released only by
// its owner, has a [Lease.Context] that ends with the lease, and carries an
// [Owner], which [Locker.Status] shows to everyone.
//
// # What is not promised
//
// A lease does not prove exclusion. Its holder may be stopped between a check of
// the lease and the write that follows, by the scheduler, a garbage collection or
// a sleeping machine; a Redis that loses writes, because it fails over to a
// replica that did not have them or restarts without a log, forgets leases that it
// granted. Only the resource itself can keep a late writer out, by comparing
// fences: every lease has a [Lease.Fence] greater than that of every lease of the
// same name before it, and a resource that refuses writes with a fence below one
// that it has seen is never written by an earlier holder. Package sqlguard
// compares fences in a SQL table, redislock.Guard in Redis.
//
// The deadline of a lease is kept on the monotonic clock, which on Linux does not
// run while the machine sleeps: after it wakes, a lease may seem to live until its
// next renewal fails. Clocks are trusted to run at the same speed to within 5 %.
// Redis counts the time until the next holder can take a lock on its wall clock:
// setting that clock forward by more than a twentieth of the TTL may end leases
// early. Setting it back may lower the next fence if no memory of the last one is
// left: Redis has it while the lock is held, for one TTL after its release and
// while somebody waits, and each client remembers the highest that it saw.
//
// # Design
//
// [Lease] is the same for both engines; an engine renews and frees it. A fence is
// one more than the last, or the microseconds since 1970 if nothing remembers the
// last, so that fences keep rising when that memory is lost.
package lock
