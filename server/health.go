package server

import (
	"context"
	"io"
	"net/http"
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

// aliveNow returns how many processes are alive, or -1 if the store does not answer.
func (s *Server) aliveNow() float64 {
	if n := s.overview(context.Background()).Processes; n != nil {
		return float64(n.Alive)
	}
	return -1
}
