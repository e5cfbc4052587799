package job

import (
	"os"
	"syscall"
	"time"
)

// Who sends a signal to oid may have sent it to the command too: systemd sends SIGTERM to all
// processes of a unit. Many programs end at once on a second SIGTERM, so the command must not
// get it again from oid. The kernel does not tell who got a signal. The guard is the witness,
// because only a sender that means all processes reaches it:
//
//	Did the guard get the signal too?          What oid does
//	no, or there is no guard                   passes it on
//	yes                                        does not: the command got it too
//	yes, but the command is in another cgroup  passes it on: the command may not have got it
//	yes, for the second time within 10 s       passes it on: the first had no effect

// witnessTime is how long a sender may take to reach all processes. Two equal signals within
// that time count as one, as two pending ones do in the kernel: timeout(1) sends SIGTERM to
// its child, and then to the process group of the child.
const witnessTime = 150 * time.Millisecond

// receive handles a signal to this process.
func (r *run) receive(s os.Signal) {
	number, ok := s.(syscall.Signal)
	if r.group.stopOwn(s, r.held) || !ok || time.Since(r.received[s]) < witnessTime {
		return
	}
	r.received[s] = time.Now()
	if r.end.ended && endsPrograms(s) && r.ending == 0 {
		r.ending = number
	}
	time.AfterFunc(witnessTime, func() { r.group.ask(number) })
}

// passOn sends a signal to the command, unless shared is set: the command has got it then. If
// the command has ended, passOn ends what the command left; the second time it kills that.
func (r *run) passOn(s syscall.Signal, shared bool) {
	left := r.end.ended && endsPrograms(s)
	if left {
		r.asked++
	}
	switch {
	case left && r.asked > 1:
		r.check(r.group.kill())
	case shared:
	case left:
		r.check(r.group.terminate())
	default:
		r.group.pass(s)
	}
}
