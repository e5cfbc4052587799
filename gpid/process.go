package gpid

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoProcess is wrapped by the error of [ProcessOf] if no running process has the pid,
	// and by the error of [Process.Program] if the process has ended.
	ErrNoProcess = errors.New("gpid: no such process")

	// ErrElsewhere is wrapped by the error of a method of [Process] if the Process belongs
	// to another host, boot or PID namespace than the caller.
	ErrElsewhere = errors.New("gpid: process belongs to another host, boot or PID namespace")
)

// Process identifies one run of one process by what the Linux kernel knows about it. No two
// runs have the same Process: compare Processes with ==. Neither a clock step nor exec changes
// the Process of a run. The zero Process means "not known".
type Process struct {
	// Boot is the random UUID that the kernel draws at each boot.
	Boot string `json:"boot" bson:"boot"`
	// Namespace is the number of the PID namespace to which PID belongs.
	Namespace uint64 `json:"namespace" bson:"namespace"`
	// PID is the process id.
	PID int `json:"pid" bson:"pid"`
	// Ticks is the time from boot to the start of the process, in units of 10 ms.
	Ticks uint64 `json:"ticks" bson:"ticks"`
}

// ProcessOf returns the process that now has the pid on this host, in the PID namespace of the
// caller. If no running process has the pid, the error wraps [ErrNoProcess]. A zombie, which has
// ended, has its pid until its exit status is read: ProcessOf returns both the zombie and this
// error. On a system other than Linux the error wraps [errors.ErrUnsupported]. Any other error
// says what could not be read from /proc.
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
		err = fmt.Errorf("%w: %d has ended", ErrNoProcess, pid)
	}
	return Process{Boot: here.boot, Namespace: here.namespace, PID: pid, Ticks: s.ticks}, err
}

// Alive reports whether p still runs on this host. A zombie, which has ended but whose exit
// status nobody has read yet, does not run.
//
// If Alive cannot tell, it returns an error. If p belongs to another host, boot or PID
// namespace, the error wraps [ErrElsewhere]. On a system other than Linux it wraps
// [errors.ErrUnsupported]. Any other error says what could not be read from /proc.
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

// Program returns a number that changes when p calls exec. Compare it only with earlier numbers
// of p: another process that runs the same program has another number. It is 0 if p belongs to another user and the kernel hides its addresses from the
// caller. If p has ended, the error wraps [ErrNoProcess]. All other errors are those of
// [Process.Alive].
//
// The number is a hash of the addresses of code and stack, which the kernel randomizes at each
// exec. By chance one of 4 billion execs leaves the number unchanged. If "setarch -R" switches
// the randomization off, the number does not change.
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

// Started returns when p started, even if p has ended. The result is at most a second before
// the true start. It is calculated from the present wall clock of this host, so a clock step
// changes it: do not identify a process by this time.
//
// The errors are those of [Process.Alive], but another PID namespace of the caller's boot is no
// error.
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

// GPID returns the GPID of p. addr is the address of p, in the form that [Self] takes. The
// start time is the result of [Process.Started], which changes when the clock is set, so call
// GPID once and keep the result. If the process p itself calls Self, it gets another GPID, whose
// start time is up to a second later.
//
// If addr is malformed, or if the start time is before 2001-09-09, the error wraps
// [ErrInvalid]. All other errors are those of Started.
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
