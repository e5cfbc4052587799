package gpid

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoProcess is wrapped by the error of [ProcessOf] if no process has the pid, or if
	// that process has ended.
	ErrNoProcess = errors.New("gpid: no such process")

	// ErrElsewhere is wrapped by the errors of the methods of [Process] if it belongs to
	// another host, boot or PID namespace than the caller.
	ErrElsewhere = errors.New("gpid: process belongs to another host, boot or PID namespace")
)

// Process is how the kernel identifies one run of one process: no two ever have the same,
// so compare them with ==. Neither a clock step nor exec changes it. The zero Process
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

// ProcessOf returns the process of this host that now has the pid, in the PID namespace of
// the caller. If there is none, the error wraps [ErrNoProcess], and on a system other than
// Linux [errors.ErrUnsupported]. Other errors name a file of /proc.
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

// Alive reports whether p still runs on this host. A process whose exit status nobody has
// read yet does not. An error means that it cannot be decided: it wraps [ErrElsewhere], or
// [errors.ErrUnsupported] on a system other than Linux.
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

// Program returns a number for the program that p runs, which changes with each exec. It
// is 0 if the kernel hides it from the caller, because p belongs to another user. The
// errors are those of [Process.Alive], and wrap [ErrNoProcess] if p has ended.
//
// The number is a hash of the addresses of code and stack, which the kernel draws at exec.
// Two are equal by chance once in 4 billion times, and always if "setarch -R" switches the
// drawing off.
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

// Started returns when p started, by the wall clock of this host as it is set now, up to a
// second too early. It changes with a clock step, so it does not identify a process. The
// errors are those of [Process.Alive], or name a file of /proc.
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

// GPID returns the GPID of p at addr, which is read as by [Self]. Its start time is the
// result of [Process.Started], which a clock step changes: call GPID once and keep the
// result. What p itself gets from Self starts up to a second later.
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
