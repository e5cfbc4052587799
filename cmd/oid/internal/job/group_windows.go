package job

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// CatchSignals returns a channel that receives Ctrl-C and Ctrl-Break.
func CatchSignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt)
	return signals
}

// catchStops does nothing: no signal stops programs here.
func catchStops(chan os.Signal) {}

// endsPrograms reports whether s asks programs to end.
func endsPrograms(os.Signal) bool { return true }

// group is a command with all processes that it has started. They are in a job object, which
// ends together with oid.
type group struct {
	id      int // the pid of the guard, which is also the process group of the command
	changes chan change
	gone    chan struct{} // closed when all its processes have ended
	object  windows.Handle
}

// startGroup starts the guard of cmd, see runGuard.
func startGroup(cmd *exec.Cmd, _ chan os.Signal) (*group, error) {
	self, err1 := os.Executable()
	inherited := &windows.SecurityAttributes{Length: uint32(unsafe.Sizeof(windows.SecurityAttributes{})), InheritHandle: 1}
	object, err2 := windows.CreateJobObject(inherited, nil)
	g := &group{changes: make(chan change, 1), gone: make(chan struct{}), object: object}
	hearsCtrlC := windows.RtlGetCurrentPeb().ProcessParameters.ConsoleFlags&1 == 0
	guard := &exec.Cmd{
		Path: self, Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		Args:        append([]string{os.Args[0], guardWord, strconv.FormatUint(uint64(object), 10), strconv.FormatBool(hearsCtrlC), cmd.Path}, cmd.Args...),
		SysProcAttr: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(object)}},
	}
	err := cmp.Or(cmd.Err, err1, err2, g.limit(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE))
	if err == nil {
		err = guard.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(object)
		return nil, err
	}
	g.id = guard.Process.Pid
	installRelay()
	relayed.Store(uint32(g.id))
	go func() {
		_ = guard.Wait() // ProcessState says how it ended
		g.changes <- change{ended: true, code: guard.ProcessState.ExitCode()}
		for g.runs() {
			time.Sleep(20 * time.Millisecond)
		}
		close(g.gone)
	}()
	return g, nil
}

// limit sets the limits of the job object.
func (g *group) limit(flags uint32) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(g.object, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// runs reports whether a process of the group runs. After close it returns false.
func (g *group) runs() bool {
	var info struct { // JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
		_      [10]uint32
		active uint32
		_      uint32
	}
	err := windows.QueryInformationJobObject(g.object, windows.JobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.active > 0
}

// close lets processes that still run continue.
func (g *group) close() {
	relayed.Store(0)
	_ = g.limit(0)
	_ = windows.CloseHandle(g.object)
}

// ask answers that nobody knows who else got a signal.
func (g *group) ask(s syscall.Signal) { g.changes <- change{arrived: s} }

func (g *group) lasting() int { return g.id }

func (g *group) commandEnded() bool { return false }

func (g *group) share(os.Signal) {}

func (g *group) commandStopped(os.Signal, func() bool) {}

func (g *group) stopOwn(os.Signal, func() bool) bool { return false }

// pass does nothing: the console has told the command too, or the relay has.
func (g *group) pass(os.Signal) {}

// terminate sends Ctrl-Break to the processes of the command that share the console of oid. It
// cannot ask others to end. Windows sends no Ctrl-C to a group; Wine 8 does, and lacks Ctrl-Break.
func (g *group) terminate() error {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.id)) != nil {
		_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, uint32(g.id))
	}
	return nil // kill is next
}

func (g *group) kill() error { return windows.TerminateJobObject(g.object, 1) }

// relayed is the process group that gets what the relay sends, or 0.
var relayed atomic.Uint32

var setConsoleCtrlHandler = windows.NewLazySystemDLL("kernel32.dll").NewProc("SetConsoleCtrlHandler")

// installRelay makes this process send each Ctrl-Break that it gets to the process group relayed
// too. A program that ends oid in this way sends Ctrl-Break to the process group of oid alone. In
// Wine, the Ctrl-C of the keyboard also reaches one group; in Windows, it reaches all.
var installRelay = sync.OnceFunc(func() {
	isWine := windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
	_, _, _ = setConsoleCtrlHandler.Call(windows.NewCallback(func(event uint32) uintptr {
		if id := relayed.Load(); id != 0 && (isWine || event == windows.CTRL_BREAK_EVENT) {
			_ = windows.GenerateConsoleCtrlEvent(event, id)
		}
		return 0 // the handler of the Go runtime is next
	}), 1)
})

// guardWord is the first argument of a guard process.
const guardWord = "(guard)"

// init turns this process into a guard, and does not return, if it was started as one.
func init() {
	if len(os.Args) < 6 || os.Args[1] != guardWord {
		return
	}
	if object, err := strconv.ParseUint(os.Args[2], 10, 64); err == nil {
		os.Exit(runGuard(windows.Handle(object), os.Args[3] == "true", os.Args[4], os.Args[5:]))
	}
}

// runGuard joins a job object, runs a command in it, and returns its exit code. Without a guard,
// the command would ignore Ctrl-C: the first process of a process group does, with all that it
// starts. The command needs a group for terminate, and Ctrl-C, on which programs tidy up.
func runGuard(object windows.Handle, hearsCtrlC bool, path string, args []string) int {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM) // they are for the command
	if hearsCtrlC {
		_, _, _ = setConsoleCtrlHandler.Call(0, 0)
	}
	cmd := &exec.Cmd{Path: path, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err := windows.AssignProcessToJobObject(object, windows.CurrentProcess())
	_ = windows.CloseHandle(object) // only oid keeps one
	if err == nil {
		err = cmd.Run()
	}
	if cmd.ProcessState == nil {
		fmt.Fprintf(os.Stderr, "oid: run %q: %v\n", args[0], cmp.Or(errors.Unwrap(err), err)) // without the name of a system call
		return 126                                                                            // as env(1)
	}
	return cmd.ProcessState.ExitCode()
}
