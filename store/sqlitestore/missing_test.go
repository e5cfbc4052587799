package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// TestTableDroppedByOthers drops the table of a collection that another store has
// already used, so that it has prepared statements for the table.
func TestTableDroppedByOthers(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "s.db")
	s, other := open(t, path, nil), open(t, path, nil)
	doc := func(t *testing.T) bson.Raw {
		t.Helper()
		key, err := s.Insert(ctx, "c", bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := s.Get(ctx, "c", key)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	for name, check := range map[string]func(old bson.Raw) error{
		"Get": func(old bson.Raw) error {
			key, err := store.KeyOf(old)
			if err != nil {
				return err
			}
			if _, err := s.Get(ctx, "c", key); !errors.Is(err, store.ErrNotFound) {
				return errors.Join(errors.New("want ErrNotFound"), err)
			}
			return nil
		},
		"Count": func(bson.Raw) error {
			n, err := s.Count(ctx, "c", store.Range{})
			if n != 0 {
				t.Errorf("Count = %d", n)
			}
			return err
		},
		"Find": func(bson.Raw) error {
			for doc, err := range s.Find(ctx, "c", store.Query{}) {
				return errors.Join(errors.New("found "+doc.String()), err)
			}
			return nil
		},
		"Insert": func(bson.Raw) error {
			_, err := s.Insert(ctx, "c", bson.D{})
			return err
		},
		"Replace": func(old bson.Raw) error {
			if err := s.Replace(ctx, "c", old); !errors.Is(err, store.ErrNotFound) {
				return errors.Join(errors.New("want ErrNotFound"), err)
			}
			return nil
		},
		"Swap": func(old bson.Raw) error {
			if _, err := s.Swap(ctx, "c", old, old); !errors.Is(err, store.ErrNotFound) {
				return errors.Join(errors.New("want ErrNotFound"), err)
			}
			return nil
		},
		"DeleteRange": func(bson.Raw) error {
			_, err := s.DeleteRange(ctx, "c", store.Range{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			old := doc(t)
			if err := other.DropTable(ctx, "c"); err != nil {
				t.Fatal(err)
			}
			if err := check(old); err != nil {
				t.Error(err)
			}
			doc(t)
		})
	}
}

// TestMissingWhileOthersAppear reads a collection that does not exist while another store
// creates and drops tables. If the schema changes, SQLite prepares a statement again; if it
// changes once more meanwhile, that fails with another error code.
func TestMissingWhileOthersAppear(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "s.db")
	s, other := open(t, path, nil), open(t, path, nil)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if n, err := s.Count(ctx, "missing", store.Range{}); n != 0 || err != nil {
					t.Errorf("Count = %d, %v, want 0 documents of a collection that is not there", n, err)
					return
				}
			}
		})
	}
	for range 300 {
		if _, err := other.Insert(ctx, "c", bson.D{}); err != nil {
			t.Error(err)
		}
		if err := other.DropTable(ctx, "c"); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
}
