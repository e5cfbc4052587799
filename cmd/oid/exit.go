package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // failed, or at least one bad id
	exitUsage  = 2 // wrong use
)

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
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader has what it wanted
		return exitDone
	case errors.Is(err, errReported):
		return exitFailed
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
