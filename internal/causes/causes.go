// Package causes says why a program could not connect to a server.
package causes

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
)

// Of returns the innermost errors of err, an error of connecting to a server, separated by
// semicolons. There are several if several attempts failed for different reasons. The texts of
// the wrapping errors are left out, because only people who know the driver understand them.
func Of(err error) string {
	var found []string
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
		case err == context.DeadlineExceeded, errors.As(err, &late) && late.Timeout():
			add("no answer in time")
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			add("the connection was closed")
		default:
			add(err.Error())
		}
	}
	look(err)
	return strings.Join(found, "; ")
}
