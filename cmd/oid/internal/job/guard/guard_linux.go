package guard

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// word is the name of a guard process, in place of that of the program. So a signal to all
// processes with the name of the program, as pidof(1) finds them, does not reach the guard.
const word = "(guard)"

// Args returns the arguments of a guard that runs a command. conn is a socket that the guard
// inherits. If foreground is set, the command becomes the foreground job of the terminal.
//
// The guard writes lines to the socket. The first has the pid of the command and 0, or 0 and
// the error number of starting it. Each further line has a syscall.WaitStatus of the command
// and 0, or is an answer. The number of a signal is a question: was it sent to the guard too,
// and so, probably, to the command? The answer is 1 or 0, and that number. When a byte 0
// arrives, the guard ends. When the other end closes without one, the guard kills all
// processes that the command has started.
func Args(conn int, foreground bool, path string, args []string) []string {
	return append([]string{word, strconv.Itoa(conn), strconv.FormatBool(foreground), path}, args...)
}

func init() {
	if len(os.Args) < 5 || os.Args[0] != word {
		return
	}
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return
	}
	syscall.CloseOnExec(fd)
	run(os.NewFile(uintptr(fd), "oid"), os.Args[2] == "true", os.Args[3], os.Args[4:])
	os.Exit(0)
}

// run runs a command, and returns when all processes that it has started have ended. The
// caller must have locked its goroutine to its thread, as init functions are: the kernel kills
// the command when the thread that has started it ends.
func run(oid *os.File, foreground bool, path string, args []string) {
	// Signals that reach the guard are for the command.
	got := make(chan os.Signal, 16)
	CatchUnlessIgnored(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
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
	for len(got) > 0 { // it may have come before the command began
		<-got
	}
	go func() {
		answer(oid, got, pid)
		killDescendants()
	}()
	Reap(pid, func(status syscall.WaitStatus) bool {
		tell(oid, int(status), 0)
		return true
	})
}

// repeatTime is how soon somebody sends a signal again that had no effect. A sender that
// chooses processes by the file of their program reaches oid and the guard, but not the
// command. So the first answer to such a signal is wrong, and the second is not.
const repeatTime = 10 * time.Second

// answer answers questions of oid. got receives the signals to the guard. It returns when oid
// is killed.
func answer(oid *os.File, got <-chan os.Signal, command int) {
	sent, yes := make(map[os.Signal]bool), make(map[os.Signal]time.Time)
	for question := []byte{0}; ; {
		if n, _ := oid.Read(question); n == 0 {
			return
		} else if question[0] == 0 {
			os.Exit(0)
		}
		time.Sleep(settleTime)
		for len(got) > 0 {
			sent[<-got] = true
		}
		s := syscall.Signal(question[0])
		if sent[s] && time.Since(yes[s]) > repeatTime && sharesCgroup(command) {
			yes[s] = time.Now()
			tell(oid, 1, int(s))
		} else {
			tell(oid, 0, int(s))
		}
		delete(sent, s)
	}
}

// settleTime is how long a signal may be on its way within a process.
const settleTime = 20 * time.Millisecond

// sharesCgroup reports whether a child is in the cgroup of this process or below it, or has
// ended. A signal to all processes of a unit reaches both then. For example su(1) may have
// left the unit for a session.
func sharesCgroup(child int) bool {
	own, _ := os.ReadFile("/proc/self/cgroup")
	its, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/cgroup")
	return err != nil || bytes.HasPrefix(its, bytes.TrimRight(own, "/\n"))
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
