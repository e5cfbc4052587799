// Package lock grants locks by name: a lock has at most one holder at a time,
// everyone can see who that is, and the lease of a holder that cannot renew its lock
// ends before the next holder's begins.
//
// Start with [Do], which takes a lock, runs a function and releases the lock.
// [Locker.Acquire] and [Lease.Release] do the same by hand. The engines are
// redislock and storelock, for more than one machine, and filelock, for one.
//
// Goroutines may share every Locker, Lease and Schedule. Options are structs whose zero
// value is ready to use.
//
// # When the place of the locks does not answer
//
// Acquire and Note ask again until ctx ends, and so do [Do], [Once], [Lead], [Runs] and
// [HeldSlots], which call them. TryAcquire, Status and List return the error of the engine
// after a few attempts. That error does not wrap [ErrHeld], because nobody knows whether
// the lock is free. Give each call a ctx with a deadline: a database may let a call wait
// for as long as ctx allows. A lease that cannot be renewed ends at its deadline with
// [ErrExpired], whether or not the place answers.
//
// # How a simple lock fails
//
// A simple lock in Redis (SETNX, then EXPIRE, then DEL) fails in four ways, which a
// test of package redislock shows:
//
//   - its client dies between SETNX and EXPIRE, and the lock is held for ever;
//   - its holder releases it after its time is up, and DEL removes the lock of the
//     next holder;
//   - its holder continues its work after its time is up, beside the next holder;
//   - nobody can see who holds it.
//
// A [Lease] is granted together with its TTL in one step, is released only by its
// owner, has a [Lease.Context] that ends with the lease, and has an [Owner], which
// [Locker.Status] shows to everyone.
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
// that it has seen is never written by an earlier holder. In SQL that is a condition of
// the UPDATE, in Redis redislock.Guard.
//
// The deadline of a lease is kept on the monotonic clock, which on Linux does not
// run while the machine sleeps: after it wakes, a lease may seem valid until its
// next renewal fails. Clocks must run at the same speed to within 5 %.
//
// In Redis, the time until the next holder can take a lock runs on the wall clock of
// Redis: if that clock is set forward by more than a twentieth of the TTL, the next
// holder may begin while the last still has a lease. If it is set back, the next fence
// may be lower than the last one, but only if nothing remembers that: Redis does while
// the lock is held, for one TTL after its release and while somebody waits, and each
// client remembers the highest fence that it saw.
//
// # Design
//
// [Lease] is the same for all engines; the engine renews and frees it. A fence is
// one more than the last, or the microseconds since 1970 if nothing remembers the
// last, so that fences rise even when the last one was lost.
package lock
