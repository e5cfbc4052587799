package server

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
)

// overview is what goes on among the processes and locks.
type overview struct {
	page.Overview
	processes, locks uint64    // hashes: another one shows that a process or a lock has changed
	refreshed        time.Time // zero before the first refresh
}

// counted is how many processes there are, with a hash of them.
type counted struct {
	page.Counted
	hash uint64
}

const (
	overviewLife = time.Second            // requests share an overview for so long
	overviewWait = 250 * time.Millisecond // a page does not wait longer for one
	countedOver  = 1000                   // so many ended processes are counted
	dayPoints    = 96                     // of the last day, a quarter of an hour apart
)

// overviews keeps the latest overview.
type overviews struct {
	mu      sync.Mutex
	latest  overview
	refresh chan struct{} // is closed at the end of the refresh in progress; nil without one
	began   time.Time     // of that refresh
}

// overview returns an overview that is at most a second old, or an older one if the
// store takes long to answer.
func (s *Server) overview(ctx context.Context) overview {
	o := &s.overviews
	o.mu.Lock()
	if time.Since(o.latest.refreshed) < overviewLife {
		defer o.mu.Unlock()
		return o.latest
	}
	if o.refresh == nil {
		done := make(chan struct{})
		o.refresh, o.began = done, time.Now()
		go func() {
			fresh := s.look()
			o.mu.Lock()
			defer o.mu.Unlock()
			o.latest, o.refresh = fresh, nil
			close(done)
		}()
	}
	done, left := o.refresh, overviewWait-time.Since(o.began)
	o.mu.Unlock()
	wait := time.NewTimer(left)
	defer wait.Stop()
	select {
	case <-done:
	case <-wait.C:
	case <-ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.latest
}

// look asks the store and the locks.
func (s *Server) look() overview {
	var out overview
	ctx := context.Background() // it is shared; ask limits its time
	n, err := ask(ctx, s.backend, "overview", countProcesses)
	if err == nil {
		out.Processes, out.processes = &n.Counted, n.hash
	}
	if s.options.OpenLocks != nil {
		out.Locks, err = s.locks.list(ctx)
		out.LocksKnown = err == nil
		out.locks = hashOf(out.Locks)
	}
	if reports := s.reports.all(); len(reports) > 0 {
		out.Census = &reports[0]
	}
	s.site.Prepare(&out.Overview)
	out.refreshed = time.Now()
	return out
}

// life is the time from the start of a process until it was last known to be alive.
type life struct{ from, until time.Time }

// aliveOver returns how many of all were alive at each of the points of the day that
// ends now.
func aliveOver(all []life, now time.Time) []plot.Point {
	out := make([]plot.Point, dayPoints+1)
	for i := range out {
		out[i].Time = now.Add(-24 * time.Hour * time.Duration(dayPoints-i) / dayPoints)
		for _, l := range all {
			if !l.from.After(out[i].Time) && !l.until.Before(out[i].Time) {
				out[i].Value++
			}
		}
	}
	return out
}

// countProcesses counts those that are there now, and those that have ended since a day.
func countProcesses(ctx context.Context, r *registry.Registry) (n counted, err error) {
	sum := fnv.New64a()
	living, err := r.Page(ctx, registry.Query{States: []registry.State{registry.Alive, registry.Late}, Limit: 1000})
	if err != nil {
		return n, err
	}
	now := time.Now()
	var lives []life
	for _, p := range living.Processes {
		l := life{p.GPID.Start(), now}
		if p.State == registry.Late {
			n.Late++
			l.until = p.Last.Time
		} else {
			n.Alive++
		}
		lives = append(lives, l)
		_, _ = sum.Write([]byte(p.GPID.String() + string(p.State)))
		_ = binary.Write(sum, binary.BigEndian, p.Last.Time.UnixNano())
	}
	if living.Next != "" {
		if n.Alive, err = r.CountLiving(ctx); err != nil {
			return n, err
		}
		n.Alive -= n.Late
	}
	over, err := r.Page(ctx, registry.Query{States: []registry.State{registry.Dead, registry.Ended}, Limit: countedOver})
	if err != nil {
		return n, err
	}
	for _, p := range over.Processes {
		if now.Sub(p.Until) < 24*time.Hour {
			n.Over++
			l := life{p.GPID.Start(), p.Last.Time}
			if p.State == registry.Ended {
				l.until = p.Until
			}
			lives = append(lives, l)
		}
		_, _ = sum.Write([]byte(p.GPID.String() + string(p.State)))
	}
	n.MoreOver = n.Over == countedOver
	if living.Next == "" && !n.MoreOver {
		n.Day = aliveOver(lives, now)
	}
	n.hash = sum.Sum64()
	return n, nil
}

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
