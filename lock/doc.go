// Package lock grants locks by name, so that only one of several processes does a job at a
// time. It renews a lock while it is held, and every process can ask who holds it.
//
// Start with [Do], which takes a lock, runs a function and releases the lock. To take and
// release a lock yourself, use [Locker.Acquire] and [Lease.Release]. If several hosts share a
// scheduled job, [Once] runs each of its ticks (due times) on one of them. [Lead] elects a
// leader, and [Slots] lets several processes hold one lock.
//
// A lock is kept in a backend, by the package that is its engine: redislock keeps it in Redis
// and storelock in a database, both for several machines; filelock keeps it in a folder, for
// one machine.
//
// Goroutines may share every Locker, Lease and Schedule. Options may be nil, and each zero
// field stands for its default.
//
// # Alternatives
//
//   - github.com/bsm/redislock also uses one Redis. The caller must renew a lock, waiters poll
//     instead of queueing, and there are no fencing tokens.
//   - github.com/go-redsync/redsync takes a lock in a majority of independent Redis servers,
//     so it survives the loss of one. Package redislock trusts one Redis or one cluster.
//   - The package concurrency of etcd has a queue and fencing tokens. It needs etcd.
//
// # What a lock does not promise
//
// If the backend keeps its data, a lease ends before the next lease of the same name begins.
// That is not mutual exclusion: a holder may check its lease, be paused until the lease has
// ended, and then write. A backend may also lose leases: for example a Redis that fails over
// to a replica without the latest writes, or restarts without a log.
//
// Only the resource that is written to can reject a stale holder's write. It does so by
// comparing fencing tokens, see [Lease.Fence]. In SQL, add the comparison to the condition of
// the UPDATE; in Redis, use redislock.Guard.
//
// Clocks must run at the same speed to within 5 %. After a machine has slept, a lease may
// seem valid until its next renewal fails.
//
// # When the backend does not answer
//
// Acquire, [Do], [Once], [Lead], [Runs] and [HeldSlots] may retry until ctx ends, so give ctx
// a deadline. They retry if the backend does not answer, and if it answers with an error that
// passes: it is starting, it has too many clients, its disk or its memory is full, or it has
// become a replica. In the last case, the engine drops its connections and looks up the name of
// the server again, because the name may lead to the new primary by now. They return an error
// that does not pass, such as a wrong password; only [Lead] goes on asking, because somebody may
// correct the password.
//
// TryAcquire, Status and List return the backend's error after a few attempts at
// most. That error does not wrap [ErrHeld], because nobody knows whether the lock is free. A
// lease that cannot be renewed ends, see [ErrExpired].
package lock

// The deadline of a lease is kept on the monotonic clock, which on Linux does not run while
// the machine sleeps.
//
// A fence is the last fence plus one. If nothing remembers the last fence, the new one is the
// number of microseconds since 1970, so fences increase even then.
