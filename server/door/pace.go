package door

import (
	"io"
	"net/http"
	"time"
)

// The lowest rates at which clients must read and send, in bytes per second.
const (
	slowestReader = 64 << 10
	slowestWriter = 16 << 10
)

// Paced returns a writer to w for a response of size bytes that is sent in pieces.
func (d *Door) Paced(w http.ResponseWriter, size int64) io.Writer {
	patience := d.options.Limits.Response
	return &pacedWriter{w, http.NewResponseController(w), patience, time.Now().Add(patience + time.Duration(size/slowestReader)*time.Second)}
}

// pacedWriter gives a client some time to read each piece, and until last to read all
// of them.
type pacedWriter struct {
	io.Writer
	control  *http.ResponseController
	patience time.Duration
	last     time.Time
}

// Write implements io.Writer.
func (w *pacedWriter) Write(p []byte) (int, error) {
	due := time.Now().Add(w.patience)
	if due.After(w.last) {
		due = w.last
	}
	// Where deadlines are not supported, the program that embeds the handler has its
	// own.
	_ = w.control.SetWriteDeadline(due)
	return w.Writer.Write(p)
}
