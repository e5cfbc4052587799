// Package gpid identifies one run of one process, on any host and for all time:
//
//	ip:port:start_time:pid
//	10.0.0.7:8080:1795166651598985:4711
//	[2001:db8::1]:8080:1795166651598985:4711
//
// An address does not distinguish a server from its successor after a crash, and
// the kernel uses a pid again. A [GPID] is different for every run.
//
// Most programs need [Self], which returns the GPID of this process, and [Parse],
// which reads one. [ProcessOf] finds a process of this host by its pid, and
// [Process.Alive] reports whether that same process still runs.
//
// # What is promised
//
// A GPID has one text form and one binary form of 32 bytes; two GPIDs are equal
// if and only if their forms are. [Process.Alive] compares what the kernel
// reports: the boot, the PID namespace, and the clock ticks from boot to the start
// of the process. It depends neither on a wall clock nor on the pid alone: a clock
// step changes nothing, and a process with a reused pid is not mistaken for an
// earlier one. A process that starts another program with exec keeps all of these,
// and the new program has another GPID: [Process.Program] tells the two apart.
//
// # What is not promised
//
// A GPID is a name and not a proof: it is not secret, and anyone can write one.
// Its start time was read from the clock of the process's host, which may be
// wrong. Two processes of different hosts with the same address, such as
// 127.0.0.1:0, differ by their start time and pid alone.
//
// # Other systems
//
// On systems other than Linux GPIDs work as well, but [ProcessOf] and the methods of
// [Process] return an error that wraps [errors.ErrUnsupported]: there, the existence of a
// pid does not show that it is the same process.
package gpid
