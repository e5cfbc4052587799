package mongostore_test

import (
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/storetest"
	"github.com/oidkit/oid/store/mongostore"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, testenv.MongoDB(t))
	}, &storetest.Options{Common: !testenv.RealMongoDB(t)})
}

// open opens a store that closes when the test ends.
func open(t *testing.T, uri string) *mongostore.Store {
	t.Helper()
	s, err := mongostore.Open(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}
