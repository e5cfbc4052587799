// Package lock makes one of several processes do something at a time: it grants locks by
// name, renews them, and shows everyone who holds them. If the backend keeps its data, the
// lease of a holder that cannot renew its lock ends before the next lease begins.
//
// Start with [Do], which takes a lock, runs a function and releases the lock. [Locker.Acquire]
// and [Lease.Release] do the same by hand. [Once] runs a job of several hosts once per tick,
// [Lead] elects a leader, and [Slots] lets several hold a lock. The engines are redislock and
// storelock, for several machines, and filelock, for one.
//
// Goroutines may share every Locker, Lease and Schedule. Options may be nil.
//
// # Beside what you have
//
//   - github.com/bsm/redislock takes a lock in one Redis, which the caller refreshes. Here
//     leases renew themselves, waiters queue instead of polling, and every lease has a
//     fencing token.
//   - github.com/go-redsync/redsync takes a majority of independent Redis servers, so it
//     bears the loss of one. redislock here trusts one Redis with its replicas, or a cluster.
//   - The package concurrency of etcd has a queue, and revisions that serve as fencing tokens.
//     It needs etcd. Here a folder, a database or a Redis that you have will do.
//
// # What is not promised
//
// A lease does not prove exclusion. Its holder may be paused between a check of the lease and
// the write that follows. A Redis that fails over to a replica without the latest writes, or
// restarts without a log, forgets leases. Only the resource can reject a stale holder's write,
// by comparing fencing tokens: [Lease.Fence] is greater than that of every earlier lease of
// the name. In SQL that is a condition of the UPDATE, in Redis redislock.Guard.
//
// Clocks must run at the same speed to within 5 %. After a machine has slept, a lease may
// seem valid until its next renewal fails.
//
// # When the backend does not answer
//
// Acquire, [Do], [Once], [Lead], [Runs] and [HeldSlots] ask again until ctx ends. TryAcquire,
// Status and List return the error after a few attempts. That error does not wrap [ErrHeld],
// because nobody knows whether the lock is free. Give each call a ctx with a deadline. A
// lease that cannot be renewed ends at its deadline with [ErrExpired].
package lock

// The deadline of a lease is kept on the monotonic clock, which on Linux does not run while
// the machine sleeps. A fence is one more than the last, or the microseconds since 1970 if
// nothing remembers the last, so that fences increase even when the last one was lost.
