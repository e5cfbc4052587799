package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
)

// Unreachable returns the error for a server that does not answer: its name and
// hosts, what is at the bottom of why, and what to do. It wraps err, whose own text it
// leaves out: drivers write theirs for those who know the driver.
func Unreachable(server, hosts string, err, why error) error {
	return Reworded(err, "%s at %s does not answer (%s); see that it runs and that the URL names its host and port", server, hosts, strings.Join(causes(why), "; "))
}

// Reworded returns an error that wraps err and has another text.
func Reworded(err error, format string, args ...any) error {
	return &reworded{fmt.Sprintf(format, args...), err}
}

type reworded struct {
	text string
	err  error
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.err }

// causes returns what is at the bottom of a failure to connect, each once: several
// attempts may have failed, each for its own reason.
func causes(err error) (found []string) {
	add := func(text string) {
		if !slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	var look func(err error)
	look = func(err error) {
		switch e := err.(type) {
		case *net.DNSError:
			add(e.Err)
			return
		case syscall.Errno:
			add(e.Error())
			return
		case interface{ Unwrap() []error }:
			for _, err := range e.Unwrap() {
				look(err)
			}
			return
		}
		inner := errors.Unwrap(err)
		var late net.Error
		switch {
		case inner != nil:
			look(inner)
		case errors.Is(err, context.DeadlineExceeded), errors.As(err, &late) && late.Timeout():
			add("no answer in time")
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			add("it closes the connection")
		default:
			add(err.Error())
		}
	}
	look(err)
	return found
}
