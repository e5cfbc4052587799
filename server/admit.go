package server

import (
	"net/http"
	"strings"
	"time"
)

// longestWait is how long a request waits for a slot or for memory, at most half of the
// limit for the response.
const longestWait = 5 * time.Second

// What requests take of the memory, found by measuring and rounded up.
const (
	baseMemory = 256 << 10 // with the buffers of the connection and the response
	listMemory = 4 << 20   // answers that list processes or samples
	bodyFactor = 8         // copies of a body while it is decoded
	rowMemory  = 2 << 10   // an id in the table of the page
	heavyFrom  = 2 << 20   // requests that decode or show more also keep a processor busy
)

func (s *Server) allowance(r *http.Request) *allowance {
	return &allowance{budget: s.memory, of: connectionOf(r)}
}

// admit reads the body of a request and then takes what its handler needs: memory, and
// a slot until the response is sent. A client that sends slowly holds no slot. done
// gives back what was taken. The errors are those of readBody and errBusy.
func (s *Server) admit(w *recorder, r *http.Request) (done func(), err error) {
	a := s.allowance(r)
	size, err := s.readBody(w, r, s.options.Limits.Body, a)
	if err != nil {
		a.release()
		return nil, err
	}
	working := connectionOf(r).work()
	need, heavy := memoryOf(r, size)
	var taken []chan struct{}
	free := func() {
		for _, slots := range taken {
			<-slots
		}
		taken = nil
	}
	fail := func(err error) (func(), error) {
		free()
		a.release()
		working()
		return nil, err
	}
	if heavy {
		if !s.take(s.heavy, r) {
			return fail(errBusy)
		}
		taken = append(taken, s.heavy)
	}
	if err := a.grow(r.Context(), max(need-a.bytes, 0), s.patience()); err != nil {
		return fail(err)
	}
	if !s.take(s.slots, r) {
		return fail(errBusy)
	}
	taken = append(taken, s.slots)
	w.release = free
	return func() {
		w.releaseOnce()
		a.release()
		working()
	}, nil
}

// memoryOf estimates the memory that a request with a body of size bytes takes, and
// reports whether it keeps a processor busy for long.
func memoryOf(r *http.Request, size int64) (need int64, heavy bool) {
	need = baseMemory + bodyFactor*size
	if r.URL.Path == "/" {
		text := size + int64(len(r.URL.RawQuery))
		need += min(text/24, maxRows) * rowMemory
	}
	heavy = need > heavyFrom
	if r.URL.Path == "/new" {
		need += listMemory // the ids as text, and the page with it
	}
	if r.Method == http.MethodGet && (strings.HasPrefix(r.URL.Path, "/v1/processes") || strings.HasPrefix(r.URL.Path, "/processes")) {
		need += listMemory
	}
	return need, heavy
}

func (s *Server) patience() time.Duration { return min(longestWait, s.options.Limits.Response/2) }

// take waits a moment for a slot, and reports whether it got one.
func (s *Server) take(slots chan struct{}, r *http.Request) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
	}
	t := time.NewTimer(s.patience())
	defer t.Stop()
	select {
	case slots <- struct{}{}:
		return true
	case <-t.C:
	case <-r.Context().Done():
	}
	return false
}
