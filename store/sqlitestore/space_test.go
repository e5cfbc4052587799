package sqlitestore_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// TestSpaceIsGivenBack: a file is small again after most of its documents are deleted,
// in whatever way, while it is in use. What is left is sound.
func TestSpaceIsGivenBack(t *testing.T) {
	const n, kept = 20_000, 1_000
	for name, remove := range map[string]func(s *sqlitestore.Store) error{
		"DeleteRange": func(s *sqlitestore.Store) error {
			_, err := s.DeleteRange(t.Context(), "c", store.Range{From: store.Int(kept)})
			return err
		},
		"SwapMany": func(s *sqlitestore.Store) error {
			var swaps []store.Swap
			for doc, err := range s.Find(t.Context(), "c", store.Query{Range: store.Range{From: store.Int(kept)}}) {
				if err != nil {
					return err
				}
				swaps = append(swaps, store.Swap{Old: doc})
			}
			_, err := s.SwapMany(t.Context(), "c", swaps)
			return err
		},
		"Drop": func(s *sqlitestore.Store) error { return s.Drop(t.Context(), "c") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s, err := sqlitestore.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			docs := make([]any, n)
			for i := range docs {
				docs[i] = bson.D{{Key: "_id", Value: int32(i)}, {Key: "text", Value: strings.Repeat("x", 500)}}
			}
			if _, err := s.InsertMany(t.Context(), "c", docs, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := s.InsertMany(t.Context(), "other", docs[:kept], nil); err != nil {
				t.Fatal(err)
			}
			before := pages(t, path)
			if err := remove(s); err != nil {
				t.Fatal(err)
			}
			if got := pages(t, path); got > before/4 {
				t.Errorf("%d pages after the deletion, %d before", got, before)
			}
			if got, err := s.Count(t.Context(), "other", store.Range{}); got != kept || err != nil {
				t.Errorf("%d documents of another collection, %v, want %d", got, err, kept)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Size() > 4<<20 {
				t.Errorf("the file has %d bytes, %v", info.Size(), err)
			}
			if got := pragma(t, path, "integrity_check"); got != "ok" {
				t.Errorf("integrity check: %s", got)
			}
		})
	}
}

// A file that cannot give space back, as older versions created them, keeps its size.
func TestSpaceOfAFileOfAnOlderVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	if err := open(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	query(t, path, "PRAGMA journal_mode = DELETE")
	query(t, path, "PRAGMA auto_vacuum = 0; VACUUM")
	if got := pragma(t, path, "auto_vacuum"); got != "0" {
		t.Fatalf("auto_vacuum = %s", got)
	}
	s := open(t, path, nil)
	docs := make([]any, 10_000)
	for i := range docs {
		docs[i] = bson.D{{Key: "text", Value: strings.Repeat("x", 500)}}
	}
	if _, err := s.InsertMany(t.Context(), "c", docs, nil); err != nil {
		t.Fatal(err)
	}
	before := pages(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if n, err := s.DeleteRange(ctx, "c", store.Range{}); n != int64(len(docs)) || err != nil || ctx.Err() != nil {
		t.Errorf("DeleteRange = %d, %v, and the context %v", n, err, ctx.Err())
	}
	if got := pages(t, path); got != before {
		t.Errorf("%d pages after the deletion, %d before", got, before)
	}
}

func pages(t *testing.T, path string) (n int) {
	t.Helper()
	scan(t, path, "PRAGMA page_count", &n)
	return n
}

func pragma(t *testing.T, path, name string) (got string) {
	t.Helper()
	scan(t, path, "PRAGMA "+name, &got)
	return got
}

func scan(t *testing.T, path, text string, to any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), text).Scan(to); err != nil {
		t.Fatal(err)
	}
}
