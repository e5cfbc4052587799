package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// work is a program that registers, generates an id, and ends.
func work(ctx context.Context, s store.Store) (id objectid.ID, err error) {
	m, err := registry.New(s, nil).Register(ctx, &registry.RegisterOptions{Name: "shop", Addr: "127.0.0.1:8080"})
	if err != nil {
		return id, err
	}
	defer m.End(ctx, "shut down")
	return m.Generator().New(), nil
}

// An id leads back to the process that made it, also when that has ended.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := sqlitestore.Open(ctx, filepath.Join(dir, "registry.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	id, err := work(ctx, s)
	if err != nil {
		fmt.Println(err)
		return
	}

	trace, err := registry.New(s, nil).Trace(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	maker := trace.Processes[0]
	fmt.Println(trace.Verdict, maker.Name, maker.GPID.Addr(), maker.State, maker.Reason)
	// Output: known shop 127.0.0.1:8080 ended shut down
}
