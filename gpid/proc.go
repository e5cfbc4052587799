package gpid

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// tick is the unit of the start times in /proc: USER_HZ is 100 on every
// architecture that Go supports.
const tick = 10 * time.Millisecond

// stat is the part of /proc/PID/stat that is used, see proc_pid_stat(5).
type stat struct {
	pid         int
	state       byte
	ticks       uint64
	code, stack uint64 // addresses; stack is zero if they are not shown
}

// ended reports whether only the exit status of the process is left.
func (s stat) ended() bool { return s.state == 'Z' || s.state == 'X' || s.state == 'x' }

// readStat reads the stat file of the process with the given pid.
func readStat(proc fs.FS, pid int) (stat, error) {
	if pid < 1 {
		return stat{}, fmt.Errorf("%w: pid %d", ErrNoProcess, pid)
	}
	name := path.Join(strconv.Itoa(pid), "stat")
	text, err := fs.ReadFile(proc, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errGone) {
		// Process 1 always runs. If /proc does not show it, /proc is empty, or it hides
		// the processes of other users. Then a missing file does not prove that the
		// process has ended.
		if _, err := fs.Stat(proc, "1"); err != nil {
			return stat{}, fmt.Errorf("gpid: read stat of process %d: /proc hides processes: %w", pid, err)
		}
		return stat{}, fmt.Errorf("%w: %d", ErrNoProcess, pid)
	}
	if err != nil {
		return stat{}, fmt.Errorf("gpid: read stat of process %d: %w", pid, err)
	}
	s, err := parseStat(string(text))
	if err != nil {
		return stat{}, fmt.Errorf("gpid: read stat of process %d: %w", pid, err)
	}
	if s.pid != pid {
		return stat{}, fmt.Errorf("gpid: read stat of process %d: the file belongs to process %d", pid, s.pid)
	}
	return s, nil
}

// parseStat reads fields 1, 3, 22, 26 and 28. Field 2 is the process name, which the
// process chooses: it may contain spaces and parentheses, so it ends at the last
// closing parenthesis of the file.
func parseStat(text string) (s stat, err error) {
	pidText, _, ok1 := strings.Cut(text, " (")
	end := strings.LastIndexByte(text, ')')
	if s.pid, err = strconv.Atoi(pidText); !ok1 || end < 0 || err != nil || s.pid < 1 {
		return s, fmt.Errorf("want \"pid (name) ...\", got %.40q", text)
	}
	fields := strings.Fields(text[end+1:]) // from field 3
	const first, least = 3, 28 - 3 + 2     // the last field may be cut short
	if len(fields) < least {
		return s, fmt.Errorf("the stat file has %d fields after the program name, want %d or more", len(fields), least)
	}
	if len(fields[0]) != 1 {
		return s, fmt.Errorf("state %q, want one letter", fields[0])
	}
	s.state = fields[0][0]
	for i, n := range []*uint64{&s.ticks, &s.code, &s.stack} {
		number := []int{22, 26, 28}[i]
		if *n, err = strconv.ParseUint(fields[number-first], 10, 64); err != nil {
			return s, fmt.Errorf("field %d is %q, want a number", number, fields[number-first])
		}
	}
	return s, nil
}

// program returns a number that differs between the programs of one process, or 0 if the
// kernel does not show the addresses to the caller, or has not set them yet. The number is a
// hash, so that it does not disclose the addresses, whose randomness protects the process.
//
// The address of the heap is not used: in the middle of exec the kernel draws it after the
// other addresses.
func (s stat) program() uint32 {
	if s.stack == 0 {
		return 0
	}
	sum := sha256.Sum256(fmt.Append(nil, s.code, s.stack))
	return max(1, binary.BigEndian.Uint32(sum[:]))
}

// scope is the boot and PID namespace within which a pid identifies a process.
type scope struct {
	boot      string
	namespace uint64 // number of the PID namespace
}

// checkBoot returns an error that wraps [ErrElsewhere] unless here and p have the same boot.
func (here scope) checkBoot(p Process) error {
	if here.boot != p.Boot {
		return fmt.Errorf("%w: boot %q, here %q", ErrElsewhere, p.Boot, here.boot)
	}
	return nil
}

// own is the scope of this process, or nil until it was read. It cannot change.
var own atomic.Pointer[scope]

// system returns the proc file system of this host and the scope of this process. Tests
// replace it.
var system = func() (fs.FS, scope, error) {
	if runtime.GOOS != "linux" {
		return nil, scope{}, fmt.Errorf("gpid: identify processes on %s: %w", runtime.GOOS, errors.ErrUnsupported)
	}
	proc := os.DirFS("/proc")
	if here := own.Load(); here != nil {
		return proc, *here, nil
	}
	here, err := readScope(proc)
	if err == nil {
		own.Store(&here)
	}
	return proc, here, err
}

// readScope returns the id of this boot and the number of the caller's PID namespace. It
// fails if proc was mounted for another PID namespace than the caller's, because the pids in
// proc then belong to other processes.
func readScope(proc fs.FS) (here scope, err error) {
	text, err := fs.ReadFile(proc, "sys/kernel/random/boot_id")
	if err != nil {
		return scope{}, fmt.Errorf("gpid: read boot id: %w", err)
	}
	here.boot = strings.TrimSpace(string(text))
	if len(here.boot) != 36 {
		return scope{}, fmt.Errorf("gpid: read boot id: %q, want a UUID", here.boot)
	}
	link, err := fs.ReadLink(proc, "self/ns/pid")
	if err != nil {
		return scope{}, fmt.Errorf("gpid: read PID namespace: %w", err)
	}
	number, ok1 := strings.CutPrefix(link, "pid:[")
	number, ok2 := strings.CutSuffix(number, "]")
	here.namespace, err = strconv.ParseUint(number, 10, 64)
	if !ok1 || !ok2 || err != nil {
		return scope{}, fmt.Errorf("gpid: read PID namespace: %q, want pid:[number]", link)
	}
	status, err := fs.ReadFile(proc, "self/status")
	if err != nil {
		return scope{}, fmt.Errorf("gpid: read status of self: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		// The line has one pid for each namespace, from the namespace of proc down to the
		// caller's.
		if pids, ok := strings.CutPrefix(line, "NSpid:"); ok && len(strings.Fields(pids)) > 1 {
			return scope{}, fmt.Errorf("gpid: /proc belongs to another PID namespace than this process")
		}
	}
	return here, nil
}

// startAfterBoot adds ticks to the time of the boot, which the kernel reports in
// whole seconds, rounded down.
func startAfterBoot(proc fs.FS, ticks uint64) (time.Time, error) {
	text, err := fs.ReadFile(proc, "stat")
	if err != nil {
		return time.Time{}, fmt.Errorf("gpid: read boot time: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			value = strings.TrimSpace(value)
			seconds, err := strconv.ParseUint(value, 10, 32)
			if err != nil || ticks > 1<<40 {
				return time.Time{}, fmt.Errorf("gpid: read boot time: %q seconds and %d ticks", value, ticks)
			}
			return time.Unix(int64(seconds), 0).Add(time.Duration(ticks) * tick).UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("gpid: read boot time: no btime in /proc/stat")
}
