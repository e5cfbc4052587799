package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/oidkit/oid/internal/phrase"
)

// streams are the three files of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// warn writes a message for people on stderr. Joined errors have a line each.
func (s streams) warn(format string, args ...any) {
	for line := range strings.SplitSeq(phrase.Plain(fmt.Sprintf(format, args...)), "\n") {
		fmt.Fprintf(s.err, "oid: %s\n", line)
	}
}

// newLog returns a log on stderr.
func newLog(std streams, asJSON jsonFlag) *slog.Logger {
	if asJSON {
		return slog.New(slog.NewJSONHandler(std.err, nil))
	}
	return slog.New(slog.NewTextHandler(std.err, nil))
}

// stdin returns standard input as a reader that ends with ctx. At a terminal it
// prints which input the command waits for.
func (s streams) stdin(ctx context.Context, what string) io.Reader {
	if isRegular(s.in) {
		return s.in // which does not block
	}
	if f, ok := s.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.warn("reading %s from the terminal; end with Ctrl-D", what)
	}
	return interruptible(ctx, s.in)
}

// isRegular reports whether r is a file with an end, and not a pipe or a terminal.
func isRegular(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
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

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
