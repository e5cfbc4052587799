package door

import (
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// Recorder is a http.ResponseWriter that records the status and the size of a response. It
// gives the slot of the request back when the body begins to be sent.
type Recorder struct {
	http.ResponseWriter
	Code    int   // the status, or 0 before the header was written
	Bytes   int64 // bytes of the body that were written
	door    *Door
	release func() // gives the slot back; nil if there is none
}

// Record returns a Recorder for w. It adds the path of the base URL to the target of a
// redirect. After [Door.Drain] it also makes the response close its connection.
func (d *Door) Record(w http.ResponseWriter) *Recorder { return &Recorder{ResponseWriter: w, door: d} }

// WriteHeader implements http.ResponseWriter.
func (r *Recorder) WriteHeader(code int) {
	if r.Code == 0 {
		r.Code = code
		if to := r.Header().Get("Location"); strings.HasPrefix(to, "/") {
			r.Header().Set("Location", r.door.Base()+to)
		}
		if r.door.Draining() { // perhaps only since the request arrived
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

// giveBack gives back the slot that [Door.Enter] has taken for the request.
func (r *Recorder) giveBack() {
	if r.release != nil {
		r.release()
		r.release = nil
	}
}

// Unwrap is for http.ResponseController.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Compress returns a function that wraps a handler. The wrapped handler compresses its
// responses to clients that accept it.
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
