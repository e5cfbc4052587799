// Package gpid identifies one run of one process, on any host and for all time:
//
//	ip:port:start_time:pid
//	10.0.0.7:8080:1795166651598985:4711
//	[2001:db8::1]:8080:1795166651598985:4711
//
// An address alone does not distinguish a server from its successor after a crash, and a pid
// alone does not either, because the kernel reuses pids. A [GPID] is different for every run.
//
// Start with [Self], which returns the GPID of this process, and [Parse], which reads one.
// [ProcessOf] finds a process of this host by its pid, and [Process.Alive] reports whether
// that same process still runs. Alive compares what the kernel knows: the boot, the PID
// namespace, and the clock ticks from boot to the start of the process. So its answer is right
// even after a clock step, or if the kernel reused the pid. A process that runs another
// program with exec stays the same process, see [Process.Program].
//
// A GPID is a name, not a proof: it is not secret, and anyone can write one. If processes of
// different hosts have the same address, such as 127.0.0.1:0, their GPIDs differ only in the
// start time and the pid.
//
// On systems other than Linux, ProcessOf and the methods of Process return an error that
// wraps [errors.ErrUnsupported].
package gpid
