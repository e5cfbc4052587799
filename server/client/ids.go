package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// IDs creates ids with the process block of a [Member], which it registers when the first
// id is needed, so that a program can start before its server. All further ids are created
// in this process: no request, and no outage of the server of any length, delays them. An
// id has the time at which New returned it, by the clock of this host, and is traced to
// this process. Set the fields before the first call; any number of goroutines may then
// share it.
type IDs struct {
	Client *Client
	// Registration describes this process. Default of its Name: that of the program.
	Registration wire.Registration
	// Options are those of the member. Nil means the defaults.
	Options *MemberOptions

	mu      sync.Mutex
	latest  *attempt // nil before the first, and when it is time for another
	backoff backoff
}

// attempt is one attempt to register. The fields are set before done is closed.
type attempt struct {
	done   chan struct{}
	member *Member
	err    error
}

// New returns a new id, greater than those that it returned before unless the member had
// to register again. Its errors are those of [IDs.Member].
func (s *IDs) New(ctx context.Context) (objectid.ID, error) {
	m, err := s.Member(ctx)
	if err != nil {
		return objectid.ID{}, err
	}
	return m.New(), nil
}

// Member returns the member that creates the ids, to read its GPID or to end it. Before
// the first id it registers the member, within ten seconds. After an error, which is that
// of [Client.NewMember], or of ctx, it tries again with a later call: after a pause that
// grows from a second to a minute, and in which each call returns the same error at once.
func (s *IDs) Member(ctx context.Context) (*Member, error) {
	s.mu.Lock()
	a := s.latest
	if a == nil {
		a = &attempt{done: make(chan struct{})}
		s.latest = a
		go s.register(a)
	}
	s.mu.Unlock()
	select {
	case <-a.done:
		return a.member, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// register makes an attempt, which all callers of that time share.
func (s *IDs) register(a *attempt) {
	defer close(a.done)
	s.Registration.Name = cmp.Or(s.Registration.Name, filepath.Base(os.Args[0]))
	s.Registration.Key = cmp.Or(s.Registration.Key, rand.Text()) // one for all attempts: an answer may have been lost
	ctx, cancel := context.WithTimeout(context.Background(), longestCall)
	defer cancel()
	if a.member, a.err = s.Client.NewMember(ctx, s.Registration, s.Options); a.err != nil {
		time.AfterFunc(s.backoff.after(a.err, longestPause), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.latest = nil
		})
	}
}
