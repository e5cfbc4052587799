package mongostore

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// Filter returns the filter that Find sends to the server, for tests of its plan.
func Filter(r store.Range) bson.D { return filter(r, false) }
