package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oidkit/oid/internal/phrase"
)

// streams are the three files of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// widen lets a pipe hold sixteen times as much as by default, where the kernel can: a command
// that writes much and the program that reads it then wait less often for each other. Other
// commands do without: after 64 such pipes Linux makes all further ones of a user small.
var widen = func(io.Writer) {}

// warn writes a message for people on stderr. Joined errors have a line each.
func (s streams) warn(format string, args ...any) {
	for line := range strings.SplitSeq(phrase.Plain(fmt.Sprintf(format, args...)), "\n") {
		fmt.Fprintf(s.err, "oid: %s\n", line)
	}
}

// newLog returns a log on stderr.
func newLog(std streams, asJSON jsonFlag) *slog.Logger {
	if asJSON {
		return slog.New(slog.NewJSONHandler(std.err, &slog.HandlerOptions{ReplaceAttr: inSeconds}))
	}
	return slog.New(slog.NewTextHandler(std.err, nil))
}

// inSeconds writes a duration as a number of seconds, as in all JSON of oid.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
	}
	return a
}

// stdin returns standard input as a reader that ends with ctx. At a terminal it
// prints which input the command waits for.
func (s streams) stdin(ctx context.Context, what string) io.Reader {
	if isRegular(s.in) {
		return s.in // which does not block
	}
	if isTerminal(s.in) {
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

// isTerminal reports whether file is a terminal.
func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// jsonFlag is the flag --json.
type jsonFlag bool

// Help texts of the flag.
const (
	jsonObject  = "write one JSON object"
	jsonObjects = "write JSON, one object per line"
)

func (j *jsonFlag) addFlag(cmd *cobra.Command, help string) {
	cmd.Flags().BoolVar((*bool)(j), "json", false, help)
}

// emit writes one result to w: value as one line of JSON, or text for people.
func (j jsonFlag) emit(w io.Writer, value any, text func(io.Writer) error) error {
	if !j {
		return text(w)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// textf returns a text for emit.
func textf(format string, args ...any) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format, args...)
		return err
	}
}

// progress shows on a terminal how much has been read, how fast and how long it will
// still take. A nil progress shows nothing.
type progress struct {
	isBytes bool // and not units
	bar     *progressbar.ProgressBar
}

// newBar returns the progress of something that is counted in documents or in bytes, or
// nil if quiet is set or stderr is not a terminal. A total of -1 is not known.
func newBar(std streams, quiet bool, total int64, isBytes bool) *progress {
	if quiet || !isTerminal(std.err) {
		return nil
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(std.err),
		progressbar.OptionSetDescription("oid: reading"),
		progressbar.OptionShowBytes(isBytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	}
	if !isBytes { // the bar writes the rate of bytes itself
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString("documents"))
	}
	return &progress{isBytes, progressbar.NewOptions64(total, options...)}
}

// count adds to what is counted in units.
func (p *progress) count(n int64) {
	if p != nil && !p.isBytes {
		_ = p.bar.Add64(n) // what is counted does not depend on whether the bar can be drawn
	}
}

// reader returns in, and counts what is read from it.
func (p *progress) reader(in io.Reader) io.Reader {
	if p == nil || !p.isBytes {
		return in
	}
	if f, ok := in.(*os.File); ok {
		return barFile{f, p.bar}
	}
	return new(progressbar.NewReader(in, p.bar))
}

// barFile is a file that counts what is read from it, at any position.
type barFile struct {
	*os.File
	bar *progressbar.ProgressBar
}

func (f barFile) Read(p []byte) (n int, err error) {
	defer func() { _ = f.bar.Add(n) }() // what is read does not depend on whether the bar can be drawn
	return f.File.Read(p)
}

func (f barFile) ReadAt(p []byte, at int64) (n int, err error) {
	defer func() { _ = f.bar.Add(n) }()
	return f.File.ReadAt(p, at)
}

// finish takes the bar off the terminal.
func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
