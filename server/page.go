package server

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	g "maragu.dev/gomponents"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/registry"
)

// showNow answers with the parts of pages that show the current processes and locks. The
// script of the page asks for them again and again.
func (s *Server) showNow(w http.ResponseWriter, r *http.Request) {
	s.send(w, http.StatusOK, page.Refreshed(s.overview(r.Context())))
}

func (s *Server) noPage(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, http.StatusNotFound, "no such page")
}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := page.Assets()[r.PathValue("name")]
	if !ok || a.Tag != r.PathValue("tag") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", a.Type)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.Data))
}

// show answers with a view. The page is rendered completely before its first byte is sent,
// because the request then gives its slot back.
func (s *Server) show(w http.ResponseWriter, r *http.Request, code int, f page.Frame) {
	f.Session, f.Now = s.door.InSession(r), s.overview(r.Context())
	s.send(w, code, s.site.Frame(f))
}

// askToken answers with the login form. The page shows nothing of the registry or the
// locks.
func (s *Server) askToken(w http.ResponseWriter, r *http.Request, code int, next, wrong string) {
	s.send(w, code, s.site.Frame(page.Frame{Title: "Log in", Session: s.door.InSession(r), Contents: s.site.Login(next, wrong)}))
}

// send answers with HTML.
func (s *Server) send(w http.ResponseWriter, code int, html g.Node) {
	b := pageBuffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= maxPageBuffer {
			b.Reset()
			pageBuffers.Put(b)
		}
	}()
	_ = html.Render(b) // to memory, without errors
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len())) // saves a system call
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the client may have disconnected
}

var pageBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPageBuffer is the size up to which a buffer is kept for another page, in bytes. Most
// pages are smaller.
const maxPageBuffer = 256 << 10

// loginBody is the maximum size of the login form in bytes. It is small because the form
// needs no token.
const loginBody = 4 << 10

// showLogin shows the form in which people enter the token once. Their browser then
// sends a cookie instead.
func (s *Server) showLogin(w http.ResponseWriter, r *http.Request) {
	next := within(r.URL.Query().Get("next"))
	if !s.door.HasTokens() || s.door.InSession(r) {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return
	}
	s.askToken(w, r, http.StatusOK, next, "")
}

// form returns a handler that parses the form of a request and then calls do.
func (s *Server) form(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			s.fail(w, r, pure.Wrongf("the request cannot be read as a form: %w", err))
			return
		}
		do(w, r)
	}
}

func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	next := within(r.PostForm.Get("next"))
	if s.door.HasTokens() && !s.door.LogIn(w, r, strings.TrimSpace(r.PostForm.Get("token"))) {
		s.askToken(w, r, http.StatusUnauthorized, next, "This token is wrong.")
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (s *Server) logOut(w http.ResponseWriter, r *http.Request) {
	s.door.LogOut(w, r)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// within returns next if it is a path of this server, otherwise the path of the start page.
func within(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

const (
	overviewLife = time.Second            // for how long requests share an overview
	overviewWait = 250 * time.Millisecond // how long a page waits for a new one
)

// overviews keeps the latest overview.
type overviews struct {
	latest atomic.Pointer[page.Overview] // nil before the first
	looks  singleflight.Group            // requests that arrive at the same time share one call of look
}

// overview returns an overview that is at most a second old. If the store takes long to
// answer, it returns an older or an empty one.
func (s *Server) overview(ctx context.Context) *page.Overview {
	o := &s.overviews
	if latest := o.latest.Load(); latest != nil && time.Since(latest.Time) < overviewLife {
		return latest
	}
	looked := o.looks.DoChan("", func() (any, error) {
		o.latest.Store(s.look())
		return nil, nil
	})
	select {
	case <-looked:
	case <-time.After(overviewWait):
	case <-ctx.Done():
	}
	if latest := o.latest.Load(); latest != nil {
		return latest
	}
	return s.site.Prepare(&page.Overview{Time: time.Now()})
}

// look makes an overview from the answers of the store and of the locks.
func (s *Server) look() *page.Overview {
	ctx := context.Background()                                  // no request's, because requests share the result; ask has a timeout
	out, _ := ask(ctx, s.backend, "overview", overviewProcesses) // empty if the store does not answer
	if s.options.OpenLocks != nil {
		if held, err := s.locks.list(ctx); err == nil {
			out.Locks, out.LocksKnown = held, true
			out.State ^= hashOf(out.Locks)
		}
	}
	out.Time = time.Now()
	return s.site.Prepare(&out)
}

// overviewProcesses counts the processes that are alive or late.
func overviewProcesses(ctx context.Context, r *registry.Registry) (out page.Overview, err error) {
	living, err := r.List(ctx, registry.Query{States: []registry.State{registry.Alive, registry.Late}, Limit: 1000})
	if err != nil {
		return out, err
	}
	sum, n := fnv.New64a(), &page.Counted{}
	for _, p := range living.Processes {
		if p.State == registry.Late {
			n.Late++
		} else {
			n.Alive++
		}
		_, _ = fmt.Fprint(sum, p.GPID, p.State, p.Last.Time.UnixNano())
	}
	if living.Next != "" {
		if n.Alive, err = r.CountLiving(ctx); err != nil {
			return out, err
		}
		n.Alive -= n.Late
	}
	out.Processes, out.State = n, sum.Sum64()
	return out, nil
}
