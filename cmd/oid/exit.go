package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // failed, or at least one bad id
	exitUsage  = 2 // wrong use
)

// Exit codes of "oid lock", which otherwise returns that of the command it ran.
// The last three are those of env(1).
const (
	exitLockLost   = 123
	exitNotLocked  = 124 // not acquired in time
	exitLockFailed = 125 // oid itself failed
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

// signalled returns the error of a command that a signal has ended.
func signalled(s os.Signal) error {
	number, _ := s.(syscall.Signal)
	return exitError{code: 128 + int(number)}
}

// usageError is an error of the person who typed the command.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef returns a usageError with a text of its own.
func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errReported is returned by a command that has said on stderr, item by item,
// what went wrong, and has nothing to add.
var errReported = errors.New("reported")

// report writes err to stderr where that helps, and returns the exit code. It is
// the only place where an error becomes one.
func report(stderr io.Writer, err error) int {
	var usage usageError
	var exit exitError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader has what it wanted
		return exitDone
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &exit):
		if exit.error != nil {
			fmt.Fprintf(stderr, "oid: %v\n", exit.error)
		}
		return exit.code
	case errors.Is(err, context.Canceled):
		return 128 + int(syscall.SIGINT)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "oid: %v\noid: hint: \"oid help\" lists commands, and each has --help\n", err)
		return exitUsage
	default:
		fmt.Fprintf(stderr, "oid: %v\n", err)
		return exitFailed
	}
}
