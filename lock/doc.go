// Package lock holds names: at most one holder has a name at a time, everybody
// can see who that is, and a holder that can no longer be sure of it stops
// before another begins.
//
// Start with [Do], which takes a lock, runs a function and gives the lock back.
// [Locker.Acquire] and [Lease.Release] do the same by hand. The engines are
// redislock, for more than one machine, and filelock, for one.
//
// # Four ways to lose
//
// The lock in Redis as everybody first writes it, SETNX, then EXPIRE, then DEL,
// loses in four ways, which a test of package redislock shows:
//
//   - its client dies between SETNX and EXPIRE, and the lock is held for ever;
//   - its holder comes back after its time is up, and DEL removes the lock of
//     the next;
//   - its holder works on after its time is up, beside the next;
//   - nobody can tell who holds it.
//
// A [Lease] here is taken together with its time in one step, is given back only
// by its owner, has a [Lease.Context] that ends when the lease does, and carries
// an [Owner], which [Locker.Status] shows to everyone.
//
// # What is not promised
//
// A lease is not proof of exclusion. Its holder may be stopped between a look at
// the lease and the write that follows, for as long as the scheduler, a
// collection of garbage or a sleeping machine like; a Redis that loses writes,
// because it fails over to a replica that did not have them or restarts without
// a log, forgets leases that it gave. Only the resource itself can keep a late
// writer out, by comparing fences: every lease has a [Lease.Fence] greater than
// that of every lease of the same name before it, and a resource that refuses
// writes with a fence below one that it has seen is never written by a holder of
// the past. [SQLGuard] compares in a SQL table, redislock.Guard in Redis.
//
// The deadline of a lease is kept on the monotonic clock, which on Linux stands
// still while the machine sleeps: after it wakes, a lease may seem to live until
// its next renewal fails. Clocks are trusted to run at the same speed to within
// 5 %. The moment at which a lock can be taken by the next is counted by Redis,
// on its wall clock: setting that clock forward by more than a twentieth of the
// TTL may end leases early, and setting it back while nobody has used the lock for
// a TTL, so that no memory of the last fence is left, may lower the next fence.
//
// # Design
//
// The Lease is the same for both engines and lives here; an engine brings a
// [Keeper], which renews and frees. Fences are microseconds since 1970, or the
// previous fence plus one where that is more, so that they keep rising when the
// memory of the previous one is lost.
package lock
