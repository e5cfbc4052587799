// Command oid creates MongoDB ObjectIds that never repeat within a process, and
// shows when and by which process an ObjectId was created.
//
// Run "oid help" for its subcommands.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/cmd/oid/internal/job/guard"
	"github.com/oidkit/oid/internal/timerange"
)

func main() {
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	guard.CatchUnlessIgnored(signals, os.Interrupt, syscall.SIGTERM)
	go func() { interrupt(interrupted{<-signals}) }()
	// With a receiver for SIGPIPE, a write to a reader that is gone returns EPIPE
	// instead of killing the process, and reportError ends it quietly.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, std streams, args []string) int {
	help := bufio.NewWriter(std.out)
	root, started := newRoot(std)
	root.SetOut(help)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !*started {
		err = usageError{unknownCommand(root, err)}
	}
	if failed := help.Flush(); err == nil {
		err = failed // cobra ignores the errors of writing help
	}
	return reportError(ctx, std, cmd, err)
}

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // failed, or at least one bad id
	exitUsage  = 2 // wrong use
)

// Exit codes of "oid lock", which otherwise returns that of the command it ran. The first
// four are codes that shells, timeout(1), xargs(1), env(1) and containers do not use. The last
// two are those of shells and env(1).
const (
	exitLockFailed = 111 // oid itself failed
	exitNotLocked  = 112 // not acquired in time
	exitLockLost   = 113
	exitTooLong    = 114 // ended by --max
	exitCannotRun  = 126
	exitNotFound   = 127
)

// exitError ends the command with a code of its own. Its error, if there is one,
// is written to stderr.
type exitError struct {
	code int
	error
}

func (e exitError) Unwrap() error { return e.error }

// usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef returns a usageError.
func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errReported is returned by a command that has reported each failure on stderr.
var errReported = errors.New("reported")

// interrupted is the error of a command that a signal has ended, and the cause of
// the end of its context.
type interrupted struct{ signal os.Signal }

func (i interrupted) Error() string { return "interrupted by signal: " + i.signal.String() }

// Is makes it a cancellation for packages that look for one.
func (i interrupted) Is(target error) bool { return target == context.Canceled }

// reportError writes err to stderr where that helps, and returns its exit code; no other
// place does. cmd is the command that failed.
func reportError(ctx context.Context, std streams, cmd *cobra.Command, err error) int {
	var usage usageError
	var exit exitError
	var by interrupted
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader needs no more
		return exitDone
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &exit):
		if exit.error != nil {
			std.warn("%v", exit.error)
		}
		return exit.code
	case errors.As(err, &by), errors.Is(err, context.Canceled) && errors.As(context.Cause(ctx), &by):
		return dieOf(by.signal)
	case errors.Is(err, context.Canceled):
		return 128 + int(syscall.SIGINT)
	case errors.As(err, &usage):
		std.warn("%v", err)
		help := cmd.CommandPath() + " --help"
		if _, ok := errors.AsType[*timerange.FieldError](err); ok {
			help = "oid help times"
		}
		fmt.Fprintf(std.err, "oid: hint: see %q\n", help)
		return exitUsage
	default:
		std.warn("%v", err)
		return exitFailed
	}
}

// dieOf ends oid by a signal that has ended its command: a shell that waits for oid
// then ends its script after Ctrl-C. It returns the exit code by which shells show
// other signals, which would leave a core of oid or are not for programs to send.
func dieOf(s os.Signal) int {
	number, _ := s.(syscall.Signal)
	switch number {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		if os.Getpid() == 1 {
			break // Linux does not end the first process of a container by its own signal; Go would exit with 2
		}
		signal.Reset(number)
		if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(number) == nil {
			time.Sleep(time.Second) // another thread may be the one that acts on it
		}
	}
	return 128 + int(number)
}

// thisVersion returns the version that the Go toolchain recorded in the binary. It comes from
// the tag of the commit, or from "go install path@version".
func thisVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}
