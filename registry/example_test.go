package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// A process joins, makes an id, and leaves; the id leads back to it.
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

	m, err := registry.Join(ctx, s, &registry.Options{Name: "shop", Addr: "127.0.0.1:8080"})
	if err != nil {
		fmt.Println(err)
		return
	}
	id := m.Generator().New()
	if err := m.Leave(ctx, "shut down"); err != nil {
		fmt.Println(err)
		return
	}

	trace, err := registry.New(s, nil).Trace(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	maker := trace.Processes[0]
	fmt.Println(trace.Verdict, maker.Name, maker.GPID.Addr(), maker.GPID == m.GPID())
	fmt.Println(maker.State, maker.Reason)
	// Output:
	// known shop 127.0.0.1:8080 true
	// left shut down
}
