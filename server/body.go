package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// readBody reads a body of up to limit bytes before anything is done with it:
// whoever is slow with it or lies about its length gets the same answer everywhere.
// The errors are errLongBody, errSlowBody and errBadBody.
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
	// The server goes on reading, to see whether the client leaves, and would take
	// the end of the time for the request for that.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}
