package mongostore

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// PollEvery makes Watch look so often where the server has no change streams.
func (s *Store) PollEvery(d time.Duration) { s.db.every = d }

// Filter returns the filter that Find sends to the server, for tests of its plan.
func Filter(r store.Range) bson.D { return filter(r, false) }
