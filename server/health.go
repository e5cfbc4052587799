package server

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

func (s *Server) livez(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") }

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	switch {
	case s.door.Draining():
		say(w, http.StatusServiceUnavailable, "stopping")
	case s.options.Open != nil && s.backend.connected.Load() == nil:
		say(w, http.StatusOK, "ready, but the store does not answer yet")
	default:
		say(w, http.StatusOK, "ready")
	}
}

func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // the client may have disconnected
}

// aliveCount caches how many processes are alive, so that frequent scrapes do not
// count them each time.
type aliveCount struct {
	mu    sync.Mutex
	until time.Time
	n     float64
}

const countEvery = 5 * time.Second

func (s *Server) aliveNow() float64 {
	s.alive.mu.Lock()
	defer s.alive.mu.Unlock()
	if now := time.Now(); now.After(s.alive.until) {
		s.alive.until = now.Add(countEvery)
		n, err := ask(context.Background(), s.backend, "count", countAlive)
		if err != nil {
			n = -1
		}
		s.alive.n = float64(n)
	}
	return s.alive.n
}
