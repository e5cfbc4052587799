package door

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// readBody reads a body of up to limit bytes before the handler runs, so that a slow
// client or a wrong length gets the same answer from every endpoint, and returns its
// length. a pays for the memory. The errors are ErrLongBody, ErrSlowBody, ErrBadBody
// and ErrMemory.
func (d *Door) readBody(w http.ResponseWriter, r *http.Request, limit int64, a *allowance) (int64, error) {
	if r.ContentLength == 0 {
		return 0, nil
	}
	if r.ContentLength > limit {
		return 0, ErrLongBody
	}
	in := http.MaxBytesReader(w, r.Body, limit)
	var body []byte
	for {
		if len(body) == cap(body) {
			// Memory is taken for what has arrived, not for what was announced.
			more := max(firstPiece, int64(cap(body)))
			if body == nil && r.ContentLength > 0 {
				more = min(more, r.ContentLength)
			}
			if err := a.grow(r.Context(), more, d.patience()); err != nil {
				return 0, err
			}
			body = append(make([]byte, 0, int64(cap(body))+more), body...)
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch _, large := errors.AsType[*http.MaxBytesError](err); {
		case err == nil:
			continue
		case err == io.EOF:
		case large:
			return 0, ErrLongBody
		case errors.Is(err, os.ErrDeadlineExceeded):
			return 0, ErrSlowBody
		default:
			return 0, ErrBadBody
		}
		break
	}
	// The server keeps reading to notice a disconnect, and would take the deadline
	// for one.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return int64(len(body)), nil
}

// firstPiece is how much of a body is read first.
const firstPiece = 4 << 10
