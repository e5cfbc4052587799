package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on a terminal how much of the sources has been read, how fast
// and how long it will still take. A nil progress shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress returns the progress of reading sources, or nil if std.err is no
// terminal or quiet is set.
func newProgress(std streams, quiet bool, sources []string) *progress {
	f, ok := std.err.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{progressbar.NewOptions64(totalSize(sources),
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription("oid: reading"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)}
}

// totalSize returns how many bytes there are to read, or -1 if that is not known.
func totalSize(sources []string) int64 {
	total := int64(0)
	for _, source := range sources {
		info, err := os.Stat(source)
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		total += info.Size()
	}
	return total
}

// reader returns in, and counts what is read from it.
func (p *progress) reader(in io.Reader) io.Reader {
	if p == nil {
		return in
	}
	return &countedReader{in, p.bar}
}

type countedReader struct {
	in  io.Reader
	bar *progressbar.ProgressBar
}

func (r *countedReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	// The report does not depend on whether the bar can be drawn.
	_ = r.bar.Add64(int64(n))
	return n, err
}

// finish takes the bar off the terminal.
func (p *progress) finish() {
	if p != nil {
		_ = p.bar.Clear()
	}
}
