package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Times of a stream of events.
const (
	eventsLook = 2 * time.Second // between two looks at what goes on
	eventsBeat = 5 * time.Second // after which an event is repeated, so that the browser knows that the stream lives
	eventsLife = time.Hour       // then the browser opens another
)

// maxStreams returns how many streams of events may be open: each keeps a connection.
func maxStreams(l Limits) int { return max(1, l.Connections/16) }

// events is the stream by which open pages learn that something has changed. An
// event holds a short text for the processes, one for how many of them are alive, and one
// for the locks, which differ after each change; the page then asks for its view again.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		s.refuse(w, r, http.StatusServiceUnavailable, "too many pages are open; this one asks for changes by itself")
		return
	}
	s.stream(w, r)
}

// stream sends events until the client or the session has gone, or the server stops.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // of nginx, which would keep them back
	ctx, cancel := context.WithTimeout(r.Context(), eventsLife)
	defer cancel()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the request is complete; where deadlines are not supported there is none
	tick := time.NewTicker(eventsLook)
	defer tick.Stop()
	last, sent := "", time.Time{}
	for {
		if event := s.eventNow(ctx); event != last || time.Since(sent) > eventsBeat {
			last = event
			_ = control.SetWriteDeadline(time.Now().Add(s.options.Limits.Response))
			if _, err := fmt.Fprint(w, event); err != nil {
				return // the client has disconnected
			}
			if err := control.Flush(); err != nil {
				return
			}
			sent = time.Now()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-s.leaving.Done():
			return
		}
		if s.door.HasTokens() && s.door.TokenOf(r) == nil {
			return // the session has ended
		}
	}
}

// eventNow returns the event with the present state.
func (s *Server) eventNow(ctx context.Context) string {
	now := s.overview(ctx)
	processes, alive, locks := "", "", ""
	if now.Processes != nil {
		processes = strconv.FormatUint(now.processes, 36)
		alive = strconv.FormatInt(now.Processes.Alive, 10)
	}
	if now.LocksKnown {
		locks = strconv.FormatUint(now.locks, 36)
	}
	return fmt.Sprintf("event: state\ndata: {\"processes\":%q,\"alive\":%q,\"locks\":%q}\n\n", processes, alive, locks)
}
