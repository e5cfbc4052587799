package registry_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

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
	candidate := trace.Processes[0]
	fmt.Println(trace.Verdict, candidate.Name, candidate.GPID.Addr(), candidate.State, candidate.Reason)
	// Output: known shop 127.0.0.1:8080 ended shut down
}

// A program starts while its store is away, here a file on a disk that is mounted later,
// and creates ids that are traced once the store has come.
func ExampleRegisterOptions_offline() {
	if err := startEarly(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// registered: false
	// known: shop
}

func startEarly(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	disk, interval := filepath.Join(dir, "disk"), 100*time.Millisecond
	options := &registry.Options{OneHost: true, Log: slog.New(slog.DiscardHandler)}
	s := store.OpenLater(func(ctx context.Context) (store.Store, error) {
		return sqlitestore.Open(ctx, filepath.Join(disk, "registry.db"), nil)
	})
	defer s.Close()
	r := registry.New(s, options)
	m, err := r.Register(ctx, &registry.RegisterOptions{Name: "shop", Offline: true, Interval: interval})
	if err != nil {
		return err
	}
	id := m.Generator().New()
	fmt.Println("registered:", m.Err() == nil)

	if err := os.Mkdir(disk, 0o700); err != nil {
		return err
	}
	for m.Err() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	trace, err := r.Trace(ctx, id)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", trace.Verdict, trace.Processes[0].Name)
	return m.End(ctx, "shut down")
}
