// Package registry tells which process made an id, and what that process was
// doing.
//
// A process joins once, makes its ids with the generator that it is given, and
// leaves:
//
//	m, err := registry.Join(ctx, s, &registry.Options{Name: "shop", Addr: "10.0.0.7:8080"})
//	...
//	defer m.Leave(ctx, "shut down")
//	id := m.Generator().New()
//
// From then on [Registry.Trace] leads from the id to the process: its identity
// (package gpid), host, program, start and end, and its load when it made the id.
// A process that makes its ids with another driver, in any language, is traced
// too, once it or somebody on its behalf has called [Adopt].
//
// # What is promised
//
// Two members never hold the same block of process values, and none is ever
// given to a second member: a block is claimed by inserting it under a unique
// key, for ever. So two members never make the same id, also when they join at
// the same moment and when one was cut off from the store.
//
// Trace says known, and certain, only if exactly one process held the id's
// process value at the id's time and the registry had its word then; otherwise it
// says unknown, conflict or collision, or known and why not certain. What a process
// recorded in its last heartbeat is still there after it was killed. A store that
// cannot be reached stops no member: it goes on making ids, keeps its samples,
// and stores them when it can.
//
// Whether a process of the same boot is alive is asked of the kernel, or told by
// its monotonic clock. Nobody is called dead because a wall clock moved.
//
// # What is not promised
//
// Process values that programs draw at random, without joining, may be those of
// a member: the chance is that of any other collision, see "oid odds". What such
// a program makes is then traced to the wrong process.
//
// A virtual machine that is copied while it runs takes its members along: both
// copies then make ids with the same blocks, until one of them joins anew.
//
// Between hosts there is no common clock. A process of another host whose
// heartbeats stopped is called silent, until this Registry itself has waited for
// three heartbeats in vain; then it is presumed dead.
//
// # Design
//
// A store finds documents by _id alone, so every question is a range of keys:
//
//	oid.processes  ip:port:start_time:pid/block   one for each member
//	oid.values     block                          whose block that is, for ever
//	               value:time:block               who adopted a process value
//	oid.samples    block:time                     load, one for each heartbeat
//
// A block is 8 hexadecimal digits, an adopted value 8 or 10, a time 13 digits of
// milliseconds. Each document has one writer, the member that it is about; that
// a run was replaced or is dead follows from what is stored and is never written,
// so no two processes ever disagree about it for longer than a heartbeat.
//
// The times of a member follow the wall clock of its host but never go back, as
// the times in its ids do.
package registry
