package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/storetest"
	"github.com/oidkit/oid/store/memstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// A store of OpenLater passes the tests of the engine that it opens.
func TestOpenLaterKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return store.OpenLater(func(context.Context) (store.Store, error) { return memstore.New(), nil })
	}, nil)
}

// A store of OpenLater has the signals of its engine, once it is open.
func TestSignalerOfOpenLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := store.OpenLater(func(ctx context.Context) (store.Store, error) { return sqlitestore.Open(ctx, path, nil) })
	defer s.Close()
	if store.SignalerOf(s) != nil {
		t.Error("it has signals before it is open")
	}
	if _, err := s.Collections(t.Context()); err != nil || store.SignalerOf(s) == nil {
		t.Errorf("Collections: %v; signals: %v", err, store.SignalerOf(s))
	}
}

// OpenLater with a file whose folder does not exist yet, for example because its disk is
// mounted later: until the folder exists, errors say what is missing; then the store works.
func TestOpenLaterInAFolderToCome(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "disk")
	s := store.OpenLater(func(ctx context.Context) (store.Store, error) {
		return sqlitestore.Open(ctx, filepath.Join(folder, "s.db"), nil)
	})
	for range 2 {
		if _, err := s.Insert(t.Context(), "c", bson.D{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Insert: %v, want ErrNotExist", err)
		}
	}
	for _, err := range s.Find(t.Context(), "c", store.Query{}) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Find: %v, want ErrNotExist", err)
		}
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	key, err := s.Insert(t.Context(), "c", bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Linearizable(s).Get(t.Context(), "c", key); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "c", key); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

// Calls that come while the store is being opened share one call of open. It goes on if the
// call that started it ends, and is cancelled by Close.
func TestOpenLaterOpensOnce(t *testing.T) { synctest.Test(t, testOpenLaterOpensOnce) }

func testOpenLaterOpensOnce(t *testing.T) {
	var opens atomic.Int32
	proceed := make(chan struct{})
	away := errors.New("away")
	s := store.OpenLater(func(ctx context.Context) (store.Store, error) {
		opens.Add(1)
		select {
		case <-proceed:
			return nil, away
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	var calls sync.WaitGroup
	count := func(ctx context.Context, want error) {
		calls.Go(func() {
			if _, err := s.Count(ctx, "c", store.Range{}); !errors.Is(err, want) {
				t.Errorf("Count: %v, want %v", err, want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	count(ctx, context.Canceled)
	synctest.Wait()
	cancel()
	calls.Wait()
	for range 10 {
		count(t.Context(), away)
	}
	synctest.Wait()
	close(proceed)
	calls.Wait()
	if n := opens.Load(); n != 1 {
		t.Errorf("opened %d times, want 1", n)
	}
	proceed = make(chan struct{})
	count(t.Context(), store.ErrClosed)
	synctest.Wait()
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	calls.Wait()
	if _, err := s.Collections(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

// If a call ends while the store is being opened, its error says why the last open failed.
func TestOpenLaterSaysWhatFailedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		fail := make(chan struct{})
		s := store.OpenLater(func(ctx context.Context) (store.Store, error) {
			select {
			case <-fail:
				return nil, away
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		defer s.Close()
		count := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := s.Count(ctx, "c", store.Range{})
			return err
		}
		if err := count(); err != context.DeadlineExceeded {
			t.Errorf("while it is opened for the first time: %v", err)
		}
		fail <- struct{}{}
		synctest.Wait()
		if err := count(); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, away) {
			t.Errorf("while it is opened again: %v, want %v too", err, away)
		}
	})
}
