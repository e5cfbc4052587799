package memstore_test

import (
	"testing"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/storetest"
	"github.com/oidkit/oid/store/memstore"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memstore.New() }, nil)
}
