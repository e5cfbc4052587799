// Package gpid identifies one run of one process, on any host and for all time:
//
//	ip:port:start_time:pid
//	10.0.0.7:8080:1795166651598985:4711
//	[2001:db8::1]:8080:1795166651598985:4711
//
// An address does not distinguish a server from its successor after a crash, and the kernel
// uses a pid again. Every run has another [GPID].
//
// Start with [Self], which returns the GPID of this process, and [Parse], which reads one.
// [ProcessOf] finds a process of this host by its pid, and [Process.Alive] reports whether
// that same process still runs. It compares what the kernel knows: the boot, the PID
// namespace, and the clock ticks from boot to the start of the process. So it is right after
// a clock step, and when the pid was used again. A process that starts another program with
// exec stays the same process, see [Process.Program].
//
// A GPID is a name and not a proof: it is not secret, and anyone can write one. Two processes
// of different hosts with the same address, such as 127.0.0.1:0, differ by start time and pid
// alone.
//
// On systems other than Linux, ProcessOf and the methods of Process return an error that
// wraps [errors.ErrUnsupported].
package gpid
