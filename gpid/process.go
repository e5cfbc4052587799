package gpid

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

var (
	// ErrNoProcess is wrapped by the error of [Of] if there is no process with
	// the pid, or only what is left of one that has ended.
	ErrNoProcess = errors.New("gpid: no such process")

	// ErrElsewhere is wrapped by the error of [Process.Alive] if the process
	// belongs to another boot or another pid namespace than the caller: to
	// another host or container, or to the time before this host started.
	ErrElsewhere = errors.New("gpid: process cannot be seen from here")
)

// Process is what the kernel of a host knows one run of a process by. No two
// processes have the same, at any time: compare it with ==. It does not change
// when the wall clock is set. The zero Process means "not known".
type Process struct {
	// Boot is the kernel's random id of the boot, a UUID in text.
	Boot string `json:"boot" bson:"boot"`
	// Namespace is the number of the pid namespace in which PID is meant.
	Namespace uint64 `json:"namespace" bson:"namespace"`
	// PID is the process id.
	PID int `json:"pid" bson:"pid"`
	// Ticks is the time from boot to the start of the process, in units of 10 ms.
	Ticks uint64 `json:"ticks" bson:"ticks"`
}

// Of returns the process of this host that now has the given pid, as the pid
// namespace of the caller counts. If there is none, the error wraps
// [ErrNoProcess]; on a system other than Linux it wraps [errors.ErrUnsupported].
// Other errors say what of /proc could not be read.
func Of(pid int) (Process, error) {
	proc, err := systemProc()
	if err != nil {
		return Process{}, err
	}
	return OfFS(proc, pid)
}

// OfFS is [Of] with a proc file system other than the one at /proc, on every
// system.
func OfFS(proc fs.FS, pid int) (Process, error) {
	s, err := readStat(proc, pid)
	if err != nil {
		return Process{}, err
	}
	if s.ended() {
		return Process{}, fmt.Errorf("%w: %d has ended", ErrNoProcess, pid)
	}
	here, err := readPlace(proc)
	if err != nil {
		return Process{}, err
	}
	return Process{Boot: here.boot, Namespace: here.namespace, PID: pid, Ticks: s.ticks}, nil
}

// Alive reports whether p still runs on this host. A process that has ended but
// that its parent has not yet waited for counts as ended. The error says why it
// cannot be told: it wraps [ErrElsewhere] if p belongs to another boot or pid
// namespace, and [errors.ErrUnsupported] on a system other than Linux.
func (p Process) Alive() (bool, error) {
	proc, err := systemProc()
	if err != nil {
		return false, err
	}
	here, err := readHere(proc)
	if err != nil {
		return false, err
	}
	return p.alive(proc, here)
}

// AliveFS is [Process.Alive] with a proc file system other than the one at
// /proc, on every system.
func (p Process) AliveFS(proc fs.FS) (bool, error) {
	here, err := readPlace(proc)
	if err != nil {
		return false, err
	}
	return p.alive(proc, here)
}

func (p Process) alive(proc fs.FS, here place) (bool, error) {
	if here.boot != p.Boot {
		return false, fmt.Errorf("%w: boot %q, here %q", ErrElsewhere, p.Boot, here.boot)
	}
	if here.namespace != p.Namespace {
		return false, fmt.Errorf("%w: pid namespace %d, here %d", ErrElsewhere, p.Namespace, here.namespace)
	}
	s, err := readStat(proc, p.PID)
	if errors.Is(err, ErrNoProcess) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return s.ticks == p.Ticks && !s.ended(), nil
}

// Started returns when p began, by the wall clock of this host as it is set now:
// not later than it truly began, and at most about a second earlier. Setting the
// clock moves it, so it is no identity. The error is [Process.Alive]'s for a
// process elsewhere, or says what of /proc could not be read.
func (p Process) Started() (time.Time, error) {
	proc, err := systemProc()
	if err != nil {
		return time.Time{}, err
	}
	here, err := readHere(proc)
	if err != nil {
		return time.Time{}, err
	}
	if here.boot != p.Boot {
		return time.Time{}, fmt.Errorf("%w: boot %q, here %q", ErrElsewhere, p.Boot, here.boot)
	}
	return startAfterBoot(proc, p.Ticks)
}

// GPID returns the GPID of p as a process that peers reach at addr, which is
// read as [Self] does. Its start time is what [Process.Started] returns now, so
// it is another one after the clock was set: make it once and keep it. It is not
// the GPID that the process gives itself with Self, whose start time is finer and
// up to a second later.
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
