package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/oidkit/oid/paste"
)

// pastedID is an id that the command was given.
type pastedID struct {
	source string // stdin or argument
	paste.Found
}

// place returns the place of the id, for an error about it.
func (p pastedID) place() string {
	if p.source == "stdin" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("argument %d", p.Line)
}

// pasted yields the ids in args, or those in standard input if there are no args
// or where one is "-". The line of an argument's id is the argument's number. It
// ends with ctx, without an error.
func pasted(ctx context.Context, std streams, args []string) iter.Seq[pastedID] {
	if len(args) == 0 {
		args = []string{"-"}
	}
	return func(yield func(pastedID) bool) {
		for i, arg := range args {
			source, ids := "argument", paste.ScanString(arg)
			switch {
			case arg == "-":
				source, ids = "stdin", paste.Scan(std.stdin(ctx, "ids"))
			case strings.TrimSpace(arg) == "":
				ids = slices.Values([]paste.Found{{Err: errors.New("empty, want an id")}})
			}
			for found := range ids {
				if ctx.Err() != nil {
					return
				}
				if source == "argument" {
					found.Line = i + 1
				}
				if !yield(pastedID{source, found}) {
					return
				}
			}
		}
	}
}

// stdin returns standard input as a reader that ends with ctx. At a terminal it
// prints which input the command waits for.
func (s streams) stdin(ctx context.Context, what string) io.Reader {
	f, isFile := s.in.(*os.File)
	if isFile {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f // which does not block
		}
		if term.IsTerminal(int(f.Fd())) {
			s.warn("reading %s from the terminal; end with Ctrl-D", what)
		}
	}
	return interruptible(ctx, s.in)
}

// interruptible returns in as a reader that ends with ctx, even while in waits for
// somebody to write. Closing it does not close in.
func interruptible(ctx context.Context, in io.Reader) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		_, err := io.CopyBuffer(w, struct{ io.Reader }{in}, make([]byte, 1<<18))
		w.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
	return r
}
