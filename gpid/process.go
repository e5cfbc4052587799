package gpid

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoProcess is wrapped by the error of [ProcessOf] if no process has the pid, or
	// if the process with the pid has ended and only its exit status is left.
	ErrNoProcess = errors.New("gpid: no such process")

	// ErrElsewhere is wrapped by the errors of [Process.Alive] and
	// [Process.Started] if the process belongs to another host, boot or PID
	// namespace than the caller.
	ErrElsewhere = errors.New("gpid: process belongs to another host, boot or PID namespace")
)

// Process is the kernel's identification of one run of one process. No two
// processes ever have the same: compare it with ==. Setting the wall clock does
// not change it, and neither does exec, see [Process.Program]. The zero Process
// means "not known".
type Process struct {
	// Boot is the kernel's random id of the boot, a UUID in text.
	Boot string `json:"boot" bson:"boot"`
	// Namespace is the number of the PID namespace in which PID is meant.
	Namespace uint64 `json:"namespace" bson:"namespace"`
	// PID is the process id.
	PID int `json:"pid" bson:"pid"`
	// Ticks is the time from boot to the start of the process, in units of 10 ms.
	Ticks uint64 `json:"ticks" bson:"ticks"`
}

// ProcessOf returns the process of this host that now has the given pid in the PID
// namespace of the caller. If there is none, the error wraps [ErrNoProcess]; on a
// system other than Linux it wraps [errors.ErrUnsupported]. Other errors say which
// file of /proc could not be read.
func ProcessOf(pid int) (Process, error) {
	proc, here, err := system()
	if err != nil {
		return Process{}, err
	}
	s, err := readStat(proc, pid)
	if err != nil {
		return Process{}, err
	}
	if s.ended() {
		return Process{}, fmt.Errorf("%w: %d has ended", ErrNoProcess, pid)
	}
	return Process{Boot: here.boot, Namespace: here.namespace, PID: pid, Ticks: s.ticks}, nil
}

// Alive reports whether p still runs on this host. A process that has ended, but
// whose parent has not yet waited for it, is not alive. An error means that it
// cannot be decided: it wraps [ErrElsewhere] if p belongs to another boot or PID
// namespace, and [errors.ErrUnsupported] on a system other than Linux.
func (p Process) Alive() (bool, error) {
	s, err := p.stat()
	if errors.Is(err, ErrNoProcess) {
		return false, nil
	}
	return err == nil && s.ticks == p.Ticks && !s.ended(), err
}

// stat reads the stat file of the process that now has the pid of p.
func (p Process) stat() (stat, error) {
	proc, here, err := system()
	if err != nil {
		return stat{}, err
	}
	if err := here.checkBoot(p); err != nil {
		return stat{}, err
	}
	if here.namespace != p.Namespace {
		return stat{}, fmt.Errorf("%w: PID namespace %d, here %d", ErrElsewhere, p.Namespace, here.namespace)
	}
	return readStat(proc, p.PID)
}

// Program returns a number that is always the same for the program that p runs, and
// another one after p has started a program with exec, also the same program again;
// 1 in 4 billion is equal by chance. It is 0 if the kernel does not show it to the
// caller, because p belongs to another user. The errors are those of
// [Process.Alive], and it wraps [ErrNoProcess] if p has ended.
//
// The number follows from the addresses of the code and the stack, which the kernel
// draws at exec: it does not change if their randomization is switched
// off, as with "setarch -R", and the program and its arguments stay the same.
func (p Process) Program() (uint32, error) {
	s, err := p.stat()
	if err == nil && (s.ticks != p.Ticks || s.ended()) {
		err = fmt.Errorf("%w: %d has ended", ErrNoProcess, p.PID)
	}
	if err != nil {
		return 0, err
	}
	return s.program(), nil
}

// Started returns when p started, by the wall clock of this host as it is set now:
// not later than the true time, and at most about a second earlier. A clock step
// changes the result, so it does not identify a process. The error wraps
// [ErrElsewhere] or [errors.ErrUnsupported] as for [Process.Alive], or says which
// file of /proc could not be read.
func (p Process) Started() (time.Time, error) {
	proc, here, err := system()
	if err != nil {
		return time.Time{}, err
	}
	if err := here.checkBoot(p); err != nil {
		return time.Time{}, err
	}
	return startAfterBoot(proc, p.Ticks)
}

// GPID returns the GPID of p with the address addr, which is read as by [Self].
// Its start time is the result of [Process.Started] at the time of the call, which
// changes with a clock step: call GPID once and keep the result. The GPID that p
// gives itself with Self has a more precise start time, up to a second later.
func (p Process) GPID(addr string) (GPID, error) {
	a, err := ParseAddr(addr)
	if err != nil {
		return GPID{}, err
	}
	start, err := p.Started()
	if err != nil {
		return GPID{}, err
	}
	return New(a, start, p.PID)
}
