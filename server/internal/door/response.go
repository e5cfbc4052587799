package door

import (
	"net/http"
	"strings"
	"sync"

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
	r.giveBack()
	n, err := r.ResponseWriter.Write(p)
	r.Bytes += int64(n)
	return n, err
}

// giveBack gives back the slot of the request, which [Door.Enter] has taken.
func (r *Recorder) giveBack() {
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

// slowestWriter is the lowest rate at which clients must send an upload, in bytes per
// second.
const slowestWriter = 16 << 10
