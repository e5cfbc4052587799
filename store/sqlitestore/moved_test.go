package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// A store whose file was deleted or replaced must refuse writes, because nobody could read
// them.
func TestFileIsReplaced(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"deleted": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+"-away") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+"-away"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s := open(t, path, nil)
			if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
				t.Fatal(err)
			}
			if err := replace(path); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Insert(t.Context(), "c", bson.D{}); !errors.Is(err, store.ErrMoved) || !strings.Contains(err.Error(), "deleted, moved or replaced") {
				t.Errorf("Insert: %v", err)
			}
		})
	}
}

// TestMovedFileHasEverything moves a file while two stores have it open. The moved file must
// contain all documents, although the -wal file with the latest writes was not moved.
func TestMovedFileHasEverything(t *testing.T) {
	for name, after := range map[string]func(*sqlitestore.Store) error{
		"write": func(s *sqlitestore.Store) error {
			_, err := s.Insert(context.Background(), "c", bson.D{})
			if err == nil || !strings.Contains(err.Error(), "the file was moved, it is complete") {
				return errors.Join(errors.New("want an error that says what the file holds"), err)
			}
			return nil
		},
		"close": (*sqlitestore.Store).Close,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s, other := open(t, path, nil), open(t, path, nil)
			for range 10 {
				for _, s := range []store.Store{s, other} {
					if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
						t.Fatal(err)
					}
				}
			}
			away := filepath.Join(t.TempDir(), "moved.db")
			if err := os.Rename(path, away); err != nil {
				t.Fatal(err)
			}
			if err := after(s); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("a new file was created at the old path")
			}
			moved := open(t, away, nil)
			if n, err := moved.Count(t.Context(), "c", store.Range{}); n != 20 || err != nil {
				t.Errorf("%d documents in the moved file, %v, want 20", n, err)
			}
		})
	}
}

// TestMovedFileWhileItIsRead moves a file while another process is reading it. The reader
// keeps SQLite from copying the latest writes into the file, so the error must say where they
// are.
func TestMovedFileWhileItIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, nil)
	if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	hold := holdSnapshot(t, path)
	if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+"-away"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Insert(t.Context(), "c", bson.D{}); err == nil || !strings.Contains(err.Error(), path+"-wal: move that next to the moved file") {
		t.Errorf("Insert: %v, want an error that names the -wal", err)
	}
	hold()
}

// holdSnapshot begins a read transaction and ends it when release is called.
func holdSnapshot(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM c").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}
