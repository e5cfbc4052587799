package door

import (
	"net/http"
	"strings"
)

// Recorder keeps the status and the size of a response.
type Recorder struct {
	http.ResponseWriter
	code    int
	bytes   int64
	door    *Door
	release func() // is called before the first byte of the body is sent; may be nil
}

// Record returns a Recorder around w. It puts the path of the base URL before the
// target of a redirect, and closes the connection of a server that stops.
func (d *Door) Record(w http.ResponseWriter) *Recorder { return &Recorder{ResponseWriter: w, door: d} }

// Code returns the status of the response, or 0 before its first byte.
func (r *Recorder) Code() int { return r.code }

// Bytes returns the size of the body that was written.
func (r *Recorder) Bytes() int64 { return r.bytes }

// WriteHeader implements http.ResponseWriter.
func (r *Recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
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
	if r.code == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.Release()
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
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
