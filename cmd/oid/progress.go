package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on a terminal how much has been read, how fast and how long it will
// still take. A nil progress shows nothing.
type progress struct {
	isBytes bool // and not units
	bar     *progressbar.ProgressBar
}

// newBar returns the progress of something that is counted in units or in bytes, or
// nil if quiet is set or stderr is not a terminal. A total of -1 is not known.
func newBar(std streams, quiet bool, what, units string, total int64, isBytes bool) *progress {
	f, ok := std.err.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{isBytes, progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription("oid: "+what),
		progressbar.OptionShowBytes(isBytes),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(units),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)}
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
	return new(progressbar.NewReader(in, p.bar))
}

// finish takes the bar off the terminal.
func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
