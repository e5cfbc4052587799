package client

import (
	"context"
	"sync"
	"time"

	"github.com/oidkit/oid/objectid"
)

// IDs hands out ids that the server creates, and fetches them ahead, so that most calls
// need no request. It suits programs that cannot register; see [Member] for ids without
// requests. Set its fields before the first call; any number of goroutines may then
// share it.
type IDs struct {
	Client *Client
	// Most is how many ids one request fetches at most. The number follows how many are
	// used. Default: 10,000.
	Most int
	// MaxAge is how long after its arrival New may return an id, whose creation time is
	// when it was fetched. Older ids are dropped. Default: 1s.
	MaxAge time.Duration

	mu      sync.Mutex
	ready   batch
	next    batch         // fetched ahead
	size    int           // of the next batch
	used    int           // ids handed out since the latest batch was asked for
	fetch   chan struct{} // is closed at the end of the request in progress; nil without one
	failure error         // of the latest request
}

// batch is a number of ids, and when they came. Counted from the request, those of a
// server that answers slowly would always be too old.
type batch struct {
	ids  []objectid.ID
	came time.Time
}

const (
	firstBatch = 16
	mostIDs    = 10_000
)

// New returns a new id, which is greater than those that it returned before as long as
// one server creates them. It waits for a request only if no id is left; the error is
// then that of [Client.NewIDs], or of ctx.
func (s *IDs) New(ctx context.Context) (objectid.ID, error) {
	for first := true; ; first = false {
		s.mu.Lock()
		if id, ok := s.take(); ok {
			s.mu.Unlock()
			return id, nil
		}
		if err := s.failure; err != nil && !first {
			s.mu.Unlock()
			return objectid.ID{}, err
		}
		s.start()
		done := s.fetch
		s.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return objectid.ID{}, ctx.Err()
		}
	}
}

// take returns an id that is young enough, and fetches more where few are left.
func (s *IDs) take() (id objectid.ID, ok bool) {
	age := s.MaxAge
	if age <= 0 {
		age = time.Second
	}
	for range 2 {
		if len(s.ready.ids) > 0 && time.Since(s.ready.came) <= age {
			id, s.ready.ids = s.ready.ids[0], s.ready.ids[1:]
			if s.used++; len(s.ready.ids) <= s.size/4 && s.next.ids == nil {
				s.start()
			}
			return id, true
		}
		s.ready, s.next = s.next, batch{}
	}
	return id, false
}

// start begins a request unless one is in progress. A batch is twice as large as what
// was used since the one before, and so grows as long as it is used up.
func (s *IDs) start() {
	if s.fetch != nil {
		return
	}
	most := s.Most
	if most <= 0 {
		most = mostIDs
	}
	s.size = min(max(2*s.used, firstBatch), most)
	s.used = 0
	done, size := make(chan struct{}), s.size
	s.fetch = done
	go func() {
		b := batch{ids: make([]objectid.ID, size)}
		err := s.Client.NewIDs(context.Background(), b.ids) // it is shared, and http.Client limits its time
		b.came = time.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fetch, s.failure = nil, err
		if err == nil {
			s.next = b
		}
		close(done)
	}()
}
