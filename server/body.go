package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// readBody reads a body of up to limit bytes before the handler runs, so that a slow
// client or a wrong length gets the same answer from every endpoint. The errors are
// errLongBody, errSlowBody and errBadBody.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int64) error {
	if r.ContentLength == 0 {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	switch _, large := errors.AsType[*http.MaxBytesError](err); {
	case large:
		return errLongBody
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlowBody
	case err != nil:
		return errBadBody
	}
	// The server keeps reading to notice a disconnect, and would take the deadline
	// for one.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// upload is an io.Reader of a request body, bounded in size and time.
type upload struct {
	server  *Server
	body    io.Reader
	control *http.ResponseController
	began   time.Time

	mu    sync.Mutex // guards what follows: a goroutine of the census may outlive the request
	read  int64
	whole bool // the body was read to the end
	ended bool
	cut   bool
	err   error // why it ended early
}

// newUpload begins an upload, or returns errStopping, errBusy or errTooLarge. done
// must be called after it.
func (s *Server) newUpload(w http.ResponseWriter, r *http.Request) (u *upload, done func(), err error) {
	if s.cut.Err() != nil {
		return nil, nil, errStopping
	}
	if r.ContentLength > s.options.Limits.Upload {
		return nil, nil, errTooLarge
	}
	select {
	case s.uploads <- struct{}{}:
	default:
		return nil, nil, errBusy
	}
	u = &upload{server: s, body: r.Body, control: http.NewResponseController(w), began: time.Now()}
	// Where deadlines are not supported, the program that embeds the handler has its
	// own.
	_ = u.control.SetWriteDeadline(u.began.Add(s.options.Limits.UploadTime + s.options.Limits.Response))
	stop := context.AfterFunc(s.cut, func() { u.stop(&u.cut) })
	return u, func() {
		stop()
		u.stop(&u.ended)
		<-s.uploads
	}, nil
}

// stop sets a flag of u and ends a Read that waits for the client.
func (u *upload) stop(flag *bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	*flag = true
	if !u.whole { // otherwise it would affect the next request on the connection
		_ = u.control.SetReadDeadline(time.Now())
	}
}

// early returns why the upload ended early, or nil.
func (u *upload) early() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (int, error) {
	if err := u.extend(); err != nil {
		return 0, err
	}
	n, err := u.body.Read(p)
	u.server.metrics.uploaded.Add(float64(n))
	u.mu.Lock()
	defer u.mu.Unlock()
	u.read += int64(n)
	limits := u.server.options.Limits
	if err == io.EOF {
		u.whole = true
		// From now on the server reads ahead, and a deadline would look like a
		// disconnect.
		_ = u.control.SetReadDeadline(time.Time{})
	}
	switch {
	case u.cut && !u.whole:
		u.err = errStopping
	case u.read > limits.Upload:
		u.err = errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded), time.Since(u.began) > limits.UploadTime:
		u.err = errTooSlow
	case err != nil && err != io.EOF:
		u.err = errBadBody
	}
	if u.err != nil {
		return n, u.err
	}
	return n, err
}

// extend moves the deadline for the next piece of the body.
func (u *upload) extend() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.ended:
		return io.ErrClosedPipe
	case u.whole:
		return io.EOF
	case u.cut:
		u.err = errStopping
	}
	if u.err == nil {
		limits := u.server.options.Limits
		// A client at the slowest allowed rate has sent u.read bytes by now.
		due := min(limits.Request+time.Duration(u.read/slowestWriter)*time.Second, limits.UploadTime)
		_ = u.control.SetReadDeadline(u.began.Add(due))
	}
	return u.err
}
