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

// newProgress returns the progress of reading parts, or nil if std.err is not a
// terminal or quiet is set.
func newProgress(std streams, quiet bool, parts []part) *progress {
	total, isBytes := totalSize(parts)
	return newBar(std, quiet, "reading", "documents", total, isBytes)
}

// newBar returns the progress of something that is counted in units or in bytes, or
// nil as newProgress does. A total of -1 is not known.
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

// totalSize returns how much there is to read, or -1 if that is not known: documents if
// all parts come from servers that estimate their number, or else bytes.
func totalSize(parts []part) (total int64, isBytes bool) {
	var size, documents int64
	for _, p := range parts {
		if size >= 0 {
			size += p.size
		}
		if p.size < 0 {
			size = -1
		}
		if documents >= 0 {
			documents += p.documents
		}
		if p.documents < 0 {
			documents = -1
		}
	}
	if documents >= 0 {
		return documents, false
	}
	return size, true
}

// count adds to what is counted in units.
func (p *progress) count(n int64) {
	if p != nil && !p.isBytes {
		_ = p.bar.Add64(n) // as below
	}
}

// reader returns in, and counts what is read from it.
func (p *progress) reader(in io.Reader) io.Reader {
	if p == nil || !p.isBytes {
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
