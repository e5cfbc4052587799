package door

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// Recorder keeps the status and the size of a response.
type Recorder struct {
	http.ResponseWriter
	Code    int   // of the response, or 0 before its first byte
	Bytes   int64 // of the body that was written
	door    *Door
	release func() // is called before the first byte of the body is sent; may be nil
}

// Record returns a Recorder around w. It puts the path of the base URL before the
// target of a redirect, and closes the connection of a server that stops.
func (d *Door) Record(w http.ResponseWriter) *Recorder { return &Recorder{ResponseWriter: w, door: d} }

// WriteHeader implements http.ResponseWriter.
func (r *Recorder) WriteHeader(code int) {
	if r.Code == 0 {
		r.Code = code
		if to := r.Header().Get("Location"); strings.HasPrefix(to, "/") {
			r.Header().Set("Location", r.door.Base()+to)
		}
		if r.door.Draining() { // maybe since the request came
			r.Header().Set("Connection", "close")
		}
	}
	r.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (r *Recorder) Write(p []byte) (int, error) {
	if r.Code == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.Release()
	n, err := r.ResponseWriter.Write(p)
	r.Bytes += int64(n)
	return n, err
}

// Release gives the slot of the request back, which [Door.Enter] has taken. The first
// Write does it.
func (r *Recorder) Release() {
	if r.release != nil {
		r.release()
		r.release = nil
	}
}

// Unwrap is for http.ResponseController.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Compress returns the function that wraps a handler: its answers are compressed for
// clients that accept it.
var Compress = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ContentTypes([]string{
		"application/json", "application/problem+json", "application/openapi+json", "application/vnd.oai.openapi+json",
		"text/html", "text/css", "text/javascript", "image/svg+xml", "text/plain",
	}))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap
})

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
