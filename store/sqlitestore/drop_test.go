package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// TestDropByAnotherProcess drops a collection of which another store knows that
// it is there, and has prepared its statements.
func TestDropByAnotherProcess(t *testing.T) {
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
		"Drop": func(bson.Raw) error {
			if err := s.Drop(ctx, "c"); !errors.Is(err, store.ErrNotFound) {
				return errors.Join(errors.New("want ErrNotFound"), err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			old := doc(t)
			if err := other.Drop(ctx, "c"); err != nil {
				t.Fatal(err)
			}
			if err := check(old); err != nil {
				t.Error(err)
			}
			doc(t)
		})
	}
}
