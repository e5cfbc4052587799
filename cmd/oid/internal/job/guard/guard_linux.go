package guard

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// word is the first argument of a guard process.
const word = "(guard)"

// Args returns the arguments of a guard that runs a command. conn is a socket that the guard
// inherits. If foreground is set, the command becomes the foreground job of the terminal.
//
// The guard writes lines to the socket. The first has the pid of the command and 0, or 0 and
// the error number of starting it. Each further line is a syscall.WaitStatus of the command.
// When a byte arrives, the guard ends. When the other end closes without one, the guard kills
// all processes that the command has started.
func Args(self string, conn int, foreground bool, path string, args []string) []string {
	return append([]string{self, word, strconv.Itoa(conn), strconv.FormatBool(foreground), path}, args...)
}

func init() {
	if len(os.Args) < 6 || os.Args[1] != word {
		return
	}
	fd, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return
	}
	syscall.CloseOnExec(fd)
	run(os.NewFile(uintptr(fd), "oid"), os.Args[3] == "true", os.Args[4], os.Args[5:])
	os.Exit(0)
}

// run runs a command, and returns when all processes that it has started have ended. The
// caller must have locked its goroutine to its thread, as init functions are: the kernel kills
// the command when the thread that has started it ends.
func run(oid *os.File, foreground bool, path string, args []string) {
	// Ignore signals that reach the guard: they are for the command, and oid passes them on.
	CatchUnlessIgnored(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	Adopt()
	command := &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	if terminal, err := syscall.Open("/dev/tty", syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0); foreground && err == nil {
		command.Sys.Foreground, command.Sys.Ctty = true, terminal
	}
	pid, err := syscall.ForkExec(path, args, command)
	if err != nil {
		number := syscall.EINVAL
		errors.As(err, &number)
		tell(oid, 0, int(number))
		return
	}
	tell(oid, pid, 0)
	go func() {
		if n, _ := oid.Read(make([]byte, 1)); n > 0 {
			os.Exit(0)
		}
		killDescendants()
	}()
	Reap(pid, func(status syscall.WaitStatus) bool {
		tell(oid, int(status))
		return true
	})
}

// tell writes a line of numbers. Package fmt would make the guard begin later.
func tell(oid *os.File, numbers ...int) {
	var line []byte
	for _, n := range numbers {
		line = append(strconv.AppendInt(line, int64(n), 10), ' ')
	}
	_, _ = oid.Write(append(line, '\n'))
}

// killDescendants kills the processes that the guard has adopted, again and again: one may
// just be starting another, and one that may not be killed may end by itself.
func killDescendants() {
	var named []int
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		for _, p := range Descendants(os.Getpid()) {
			if errors.Is(syscall.Kill(p.PID, syscall.SIGKILL), syscall.EPERM) && !slices.Contains(named, p.PID) {
				named = append(named, p.PID)
				_, _ = os.Stderr.WriteString("oid: oid lock was killed and its command cannot be ended: may not signal process " +
					strconv.Itoa(p.PID) + " (" + p.Name + ")\n")
			}
		}
		time.Sleep(pause)
	}
}

// Adopt makes this process adopt the descendants of the command whose parents have ended.
func Adopt() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}
