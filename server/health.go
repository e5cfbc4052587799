package server

import (
	"context"
	"io"
	"net/http"
)

func (s *Server) addHealth() {
	s.mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") })
	s.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case s.draining.Load():
			say(w, http.StatusServiceUnavailable, "stopping")
		case s.options.Open != nil && s.backend.connected.Load() == nil:
			say(w, http.StatusOK, "ready, but the store does not answer yet")
		default:
			say(w, http.StatusOK, "ready")
		}
	})
	s.mux.Handle("GET /metrics", s.metrics.handler())
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
