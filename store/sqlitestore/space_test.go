package sqlitestore_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// TestSpaceIsGivenBack: a file becomes small soon after most of its documents were deleted,
// with any method, while it is in use. The remaining documents are unharmed.
func TestSpaceIsGivenBack(t *testing.T) {
	testenv.WithoutRace(t)
	const n, kept = 20_000, 1_000
	for name, remove := range map[string]func(s *sqlitestore.Store) error{
		"DeleteRange": func(s *sqlitestore.Store) error {
			_, err := s.DeleteRange(t.Context(), "c", store.Range{From: store.IntKey(kept)})
			return err
		},
		"SwapMany": func(s *sqlitestore.Store) error {
			var swaps []store.Swap
			for doc, err := range s.Find(t.Context(), "c", store.Query{Range: store.Range{From: store.IntKey(kept)}}) {
				if err != nil {
					return err
				}
				swaps = append(swaps, store.Swap{Old: doc})
			}
			_, err := s.SwapMany(t.Context(), "c", swaps)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s, err := sqlitestore.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.GiveBackAfter(100 * time.Millisecond)
			insertTexts(t, s, "c", n)
			insertTexts(t, s, "other", kept)
			before := pages(t, path)
			if err := remove(s); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Minute); pages(t, path) > before/4; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d pages after the deletion, %d before", pages(t, path), before)
				}
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

// TestSpaceIsGivenBackOnce: the file is made smaller once after many calls, at the latest by
// Close.
func TestSpaceIsGivenBackOnce(t *testing.T) {
	const n, calls = 10_000, 2
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, nil)
	s.GiveBackAfter(time.Hour)
	insertTexts(t, s, "c", n)
	before := pages(t, path)
	deletePart := func(i int) {
		t.Helper()
		r := store.Range{From: store.IntKey(int64(i * n / calls)), To: store.IntKey(int64((i + 1) * n / calls))}
		if deleted, err := s.DeleteRange(t.Context(), "c", r); deleted != n/calls || err != nil {
			t.Fatalf("DeleteRange = %d, %v", deleted, err)
		}
	}
	for i := range calls {
		deletePart(i)
		if got := pages(t, path); got != before {
			t.Errorf("%d pages after call %d, %d before", got, i, before)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := pages(t, path); got > before/4 {
		t.Errorf("%d pages after Close, %d before", got, before)
	}
}

// TestSpaceIsGivenBackMeanwhile: the file is made smaller even if deletions never pause.
func TestSpaceIsGivenBackMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, nil)
	s.GiveBackAfter(time.Millisecond)
	insertTexts(t, s, "c", 10_000)
	before := pages(t, path)
	if _, err := s.DeleteRange(t.Context(), "c", store.Range{}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); pages(t, path) > before/4; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d pages, %d before", pages(t, path), before)
		}
		if _, err := s.InsertMany(t.Context(), "c", []any{bson.D{{Key: "_id", Value: 0}}}, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), "c", store.IntKey(0)); err != nil {
			t.Fatal(err)
		}
	}
}

// insertTexts inserts n documents of about 500 bytes with numbers as _id.
func insertTexts(t *testing.T, s store.Store, collection string, n int) {
	t.Helper()
	docs := make([]any, n)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: int32(i)}, {Key: "text", Value: strings.Repeat("x", 500)}}
	}
	if _, err := s.InsertMany(t.Context(), collection, docs, nil); err != nil {
		t.Fatal(err)
	}
}

// A file without incremental auto_vacuum keeps its size.
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
	insertTexts(t, s, "c", 10_000)
	before := pages(t, path)
	if _, err := s.DeleteRange(t.Context(), "c", store.Range{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // gives back what it can
		t.Fatal(err)
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
