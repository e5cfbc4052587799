package server

import (
	"sync"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

// shelf keeps the last few reports, so that each has a URL.
type shelf struct {
	mu      sync.Mutex
	reports []shelved // oldest first
}

type shelved struct {
	id     objectid.ID
	report *census.Report
}

// shelfSize bounds the memory: a report holds some examples and the counts of a
// timeline for each writer that it lists.
const shelfSize = 32

func (s *shelf) put(id objectid.ID, r *census.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = append(s.reports, shelved{id, r})
	if len(s.reports) > shelfSize {
		s.reports = append([]shelved(nil), s.reports[1:]...)
	}
}

// get returns a report, or nil.
func (s *shelf) get(id objectid.ID) *census.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reports {
		if r.id == id {
			return r.report
		}
	}
	return nil
}

// all returns the reports, latest first.
func (s *shelf) all() []shelved {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]shelved, 0, len(s.reports))
	for i := len(s.reports) - 1; i >= 0; i-- {
		out = append(out, s.reports[i])
	}
	return out
}
