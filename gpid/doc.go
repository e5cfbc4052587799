// Package gpid names one run of one process, anywhere and for ever:
//
//	ip:port:start_time:pid
//	10.0.0.7:8080:1795166651598985:4711
//	[2001:db8::1]:8080:1795166651598985:4711
//
// An address alone cannot tell a server from the one that took its place a
// second after a crash, and a pid alone is used again. A [GPID] is different
// for every run: that is its point.
//
// Start with [Self], which names this process, and [Parse], which reads a name.
// [Of] finds a process of this host by its pid, and [Process.Alive] tells
// whether that very process still runs.
//
// # What is promised
//
// A GPID has one text form and one binary form of 32 bytes; two GPIDs are equal
// if and only if their forms are. Whether a process of this host is alive is
// told by what the kernel says of it, its boot, its pid namespace and the clock
// ticks from boot to its start, and never by a wall clock or by the pid alone:
// setting the clock changes nothing, and a process that was given a pid anew is
// not taken for the one before it.
//
// # What is not promised
//
// A GPID is a name and not a proof: it is not secret and anybody can write one.
// Its start time was read from the clock of the process's host, which may be
// wrong. Two processes of different hosts that give themselves the same address,
// such as 127.0.0.1:0, differ by their start time and pid alone.
//
// # Other systems
//
// On systems other than Linux names work all the same, but [Of] and
// [Process.Alive] return an error that wraps [errors.ErrUnsupported]: there a pid
// that exists does not tell whose it is.
package gpid
