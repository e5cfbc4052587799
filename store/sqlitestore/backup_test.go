package sqlitestore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// TestBackupInUse copies a store while others write to it. The copy must contain all documents
// that were stored before, and must be a store.
func TestBackupInUse(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "s.db"), nil)
	const before = 3000
	docs := make([]any, before)
	for i := range docs {
		docs[i] = bson.D{{Key: "n", Value: int32(i)}}
	}
	if _, err := s.InsertMany(ctx, "c", docs, nil); err != nil {
		t.Fatal(err)
	}
	writing, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for writing.Err() == nil {
			if _, err := s.Insert(ctx, "c", bson.D{}); err != nil {
				t.Error(err)
			}
		}
	}()
	path := filepath.Join(dir, "copy ä.db")
	err := s.Backup(ctx, path)
	stop()
	<-ended
	if err != nil {
		t.Fatal(err)
	}
	checkIntegrity(t, path)
	c := open(t, path, nil)
	if n, err := c.Count(ctx, "c", store.Range{}); n < before || err != nil {
		t.Errorf("%d documents in the copy, %v, want %d or more", n, err, before)
	}
	if _, err := c.Insert(ctx, "c", bson.D{}); err != nil {
		t.Errorf("Insert into the copy: %v", err)
	}
	if version := query(t, path, "PRAGMA user_version"); version[0] != "2" {
		t.Errorf("the copy has version %v, want 2", version)
	}
	if _, err := os.Stat(path + ".partial"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left a partial file: %v", err)
	}
}

func TestBackupOfReadOnlyStore(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	w := open(t, filepath.Join(dir, "s.db"), nil)
	if _, err := w.Insert(ctx, "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "s.db"), &sqlitestore.Options{ReadOnly: true})
	path := filepath.Join(dir, "copy.db")
	if err := os.WriteFile(path+".partial", []byte("of an interrupted call"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(ctx, path); err != nil {
		t.Fatal(err)
	}
	c := open(t, path, nil)
	if n, err := c.Count(ctx, "c", store.Range{}); n != 1 || err != nil {
		t.Errorf("%d documents in the copy, %v, want 1", n, err)
	}
}

func TestBackupRefuses(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "s.db"), nil)
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), there); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v, want ErrExist", err)
	}
	if err := s.Backup(t.Context(), filepath.Join(dir, "s.db")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over itself: %v, want ErrExist", err)
	}
	if err := s.Backup(t.Context(), filepath.Join(there, "copy")); err == nil {
		t.Error("into a file as if it were a folder: no error")
	}
	if text, err := os.ReadFile(there); string(text) != "precious" || err != nil {
		t.Errorf("the file there is now %q, %v", text, err)
	}
	if err := s.Backup(t.Context(), filepath.Join(dir, "missing", "copy")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("into a folder that does not exist: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(dir, "cancelled")
	if err := s.Backup(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, left := range []string{path, path + ".partial"} {
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", left, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}
