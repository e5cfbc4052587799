package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/server/wire"
)

// Errors about locks. Their texts are for clients.
var (
	errNoLocks     = errors.New("this server shows no locks; start it with --locks")
	errLocksSilent = errors.New("the backend of the locks does not answer")
)

// locks reads the locks of Options.OpenLocks. It opens their backend at the first use.
type locks struct {
	options Options
	calls   caller // makes one call at a time

	mu     sync.Mutex
	locker lock.Locker
}

func newLocks(o Options) *locks {
	return &locks{options: o, calls: caller{"locks", o.Limits.Store, semaphore.NewWeighted(1), o.Log, errLocksSilent}}
}

// askLocks calls do with the Locker, see callWithin. Without locks it returns errNoLocks.
func askLocks[T any](ctx context.Context, l *locks, name string, do func(context.Context, lock.Locker) (T, error)) (none T, err error) {
	if l.options.OpenLocks == nil {
		return none, errNoLocks
	}
	return callWithin(ctx, &l.calls, name, func(ctx context.Context) (none T, err error) {
		locker, err := l.open(ctx)
		if err != nil {
			return none, err
		}
		return do(ctx, locker)
	})
}

// open returns the Locker, which it opens at the first call.
func (l *locks) open(ctx context.Context) (lock.Locker, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locker == nil {
		locker, err := l.options.OpenLocks(ctx)
		if err != nil {
			return nil, fmt.Errorf("open the locks: %w", err)
		}
		l.locker = locker
	}
	return l.locker, nil
}

// close closes the Locker.
func (l *locks) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locker == nil {
		return nil
	}
	return l.locker.Close()
}

// list returns the locks that are held, sorted by name.
func (l *locks) list(ctx context.Context) ([]wire.Lock, error) {
	return askLocks(ctx, l, "list", func(ctx context.Context, locker lock.Locker) ([]wire.Lock, error) {
		all, err := locker.List(ctx)
		return towire.Locks(all), err
	})
}

// hashOf returns a hash of locks, without their TTLs, which change all the time.
func hashOf(all []wire.Lock) uint64 {
	sum := fnv.New64a()
	for _, l := range all {
		h := *l.Holder
		h.TTLSeconds = nil
		l.Holder = &h
		_ = json.NewEncoder(sum).Encode(l) // of plain fields
	}
	return sum.Sum64()
}

type locksInput struct {
	Limit int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Maximum number of locks in the page."`
	After string `query:"after" maxLength:"2048" doc:"The value of next in the previous page. Default: the first page."`

	search string // only locks that contain this text; empty for all
}

type lockInput struct {
	Name string `path:"name" minLength:"1" maxLength:"512" example:"nightly-report" doc:"Name of the lock."`
}

var listLocks = describe(tagLocks, "listLocks", "List locks",
	"Returns the locks that are held, page by page, sorted by name.", (*Server).lockPage)

var getLock = describe(tagLocks, "getLock", "Get the status of a lock",
	"Returns who holds a lock and how many processes wait for it. If nobody holds the lock or waits for it, the status is 404.",
	func(s *Server, ctx context.Context, in *lockInput) (wire.Lock, error) {
		return askLocks(ctx, s.locks, "status", func(ctx context.Context, locker lock.Locker) (wire.Lock, error) {
			found, err := locker.Status(ctx, in.Name)
			if err == nil && !found.Held && found.Waiters == 0 {
				err = fmt.Errorf("lock %q: %w", in.Name, errNoLock)
			}
			return towire.Lock(found), err
		})
	}, http.StatusNotFound)

// lockPage returns one page of the list of locks that are held.
func (s *Server) lockPage(ctx context.Context, in *locksInput) (wire.Locks, error) {
	out := wire.Locks{Locks: []wire.Lock{}}
	all, err := s.locks.list(ctx)
	for _, l := range all {
		switch {
		case l.Name <= in.After && in.After != "", !contains(in.search, l.Name, l.Holder.Host, l.Holder.Command, l.Holder.GPID):
		case len(out.Locks) == in.Limit:
			out.Next = out.Locks[in.Limit-1].Name
			return out, nil
		default:
			out.Locks = append(out.Locks, l)
		}
	}
	return out, err
}

func (s *Server) showLocks(w http.ResponseWriter, r *http.Request) {
	given := r.URL.Query()
	v := page.Locks{Search: strings.TrimSpace(given.Get("q"))}
	found, err := s.lockPage(r.Context(), &locksInput{Limit: maxProcesses, After: given.Get("after"), search: v.Search})
	if v.Rows = found.Locks; found.Next != "" {
		given.Set("after", found.Next)
		v.Next = "/locks?" + given.Encode()
	}
	code := s.outcome(r.Context(), err, &v.Error)
	s.show(w, r, code, page.Frame{Title: "Locks", Current: "/locks", Contents: s.site.Locks(&v)})
}

// contains reports whether one of the texts contains searched. Case does not matter.
func contains(searched string, texts ...string) bool {
	searched = strings.ToLower(searched)
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), searched) })
}
