package sqlitestore_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// query runs SQL on the file without using this package.
func query(t *testing.T, path, text string, args ...any) []string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(*values[len(values)-1].(*any)))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	if got := query(t, path, "PRAGMA integrity_check"); len(got) != 1 || got[0] != "ok" {
		t.Errorf("integrity_check: %v", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("this is no database\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	query(t, foreign, "CREATE TABLE events (id INTEGER)")
	newer := filepath.Join(dir, "newer.db")
	open(t, newer, nil)
	query(t, newer, "PRAGMA user_version = 3")
	older := filepath.Join(dir, "older.db")
	open(t, older, nil)
	query(t, older, "PRAGMA user_version = 1")
	for _, test := range []struct {
		path string
		o    sqlitestore.Options
		want string
		is   error
	}{
		{dir, sqlitestore.Options{}, "it is a folder", nil},
		{dir, sqlitestore.Options{ReadOnly: true}, "it is a folder", nil},
		{filepath.Join(dir, "missing", "x.db"), sqlitestore.Options{}, "its folder", fs.ErrNotExist},
		{filepath.Join(text, "x.db"), sqlitestore.Options{}, "not a directory", nil},
		{filepath.Join(dir, "missing.db"), sqlitestore.Options{ReadOnly: true}, "no such file", fs.ErrNotExist},
		{text, sqlitestore.Options{}, "not a SQLite database", nil},
		{text, sqlitestore.Options{ReadOnly: true}, "not a SQLite database", nil},
		{foreign, sqlitestore.Options{}, "another program", nil},
		{foreign, sqlitestore.Options{ReadOnly: true}, "another program", nil},
		{newer, sqlitestore.Options{}, "version 3, but this program reads version 2; use the oid that wrote it, or name another file", nil},
		{older, sqlitestore.Options{}, "version 1, but this program reads version 2", nil},
		{older, sqlitestore.Options{ReadOnly: true}, "version 1, but", nil},
		{newer, sqlitestore.Options{ReadOnly: true}, "version 3", nil},
		{os.DevNull, sqlitestore.Options{}, "not a regular file", nil},
	} {
		before, _ := os.ReadFile(test.path)
		s, err := sqlitestore.Open(t.Context(), test.path, &test.o)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("Open(%s, %+v): %v, want %q", test.path, test.o, err, test.want)
		}
		if after, _ := os.ReadFile(test.path); !bytes.Equal(before, after) {
			t.Errorf("Open(%s, %+v) has changed the file", test.path, test.o)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "missing.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("opening for reading has made a file")
	}
	checkIntegrity(t, foreign)
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a ? name%20 with #, ä", "s.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	w := open(t, path, nil)
	key, err := w.Insert(t.Context(), "c", bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is not where it should be: %v", err)
	}
	r := open(t, path, &sqlitestore.Options{ReadOnly: true})
	if _, err := r.Get(t.Context(), "c", key); err != nil {
		t.Errorf("Get: %v", err)
	}
	for name, err := range map[string]error{
		"Insert":  func() error { _, err := r.Insert(t.Context(), "c", bson.D{}); return err }(),
		"Replace": r.Replace(t.Context(), "c", bson.D{{Key: "_id", Value: key}}),
		"Delete":  r.Delete(t.Context(), "c", key),
	} {
		if err == nil || !strings.Contains(err.Error(), "reading only") {
			t.Errorf("%s: %v, want an error", name, err)
		}
	}
	if n, err := w.Count(t.Context(), "c", store.Range{}); n != 1 || err != nil {
		t.Errorf("Count = %d, %v, want 1", n, err)
	}
}

// A query for a time range must search the primary key, and never scan the table or sort, also if
// SQLite has statistics about the table.
func TestPlanOfARange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, nil)
	docs := make([]any, 1000)
	for i := range docs {
		docs[i] = bson.D{}
	}
	if _, err := s.InsertMany(t.Context(), "c", docs, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, q := range []store.Query{
			{Range: store.IDRange(objectid.Range{From: objectid.New(), To: objectid.New()})},
			{Range: store.IDRange(objectid.Range{From: objectid.New(), To: objectid.New()}), Descending: true, Limit: 10},
			{After: store.IDKey(objectid.New())},
		} {
			text, args := sqlitestore.PageQuery("c", q)
			plan := query(t, path, "EXPLAIN QUERY PLAN "+text, args...)
			if len(plan) != 1 || !strings.HasPrefix(plan[0], "SEARCH c USING PRIMARY KEY (_id>") {
				t.Errorf("the plan of %s is %q", text, plan)
			}
		}
		query(t, path, "ANALYZE")
	}
	// SQLite keeps its statistics in tables of its own, which are not collections.
	if names, err := s.Collections(t.Context()); !slices.Equal(names, []string{"c"}) {
		t.Errorf("Collections = %q, %v, want c alone", names, err)
	}
}

func TestSync(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), &sqlitestore.Options{Sync: true})
	if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Error(err)
	}
}

// If a store is opened for reading while another process is creating the file, the store is
// empty, and later sees what the other process writes.
func TestReadOnlyBeforeTheFirstWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := sqlitestore.Open(t.Context(), path, &sqlitestore.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if n, err := reader.Count(t.Context(), "c", store.Range{}); n != 0 || err != nil {
		t.Errorf("Count = %d, %v, want 0", n, err)
	}
	if _, err := open(t, path, nil).Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	if n, err := reader.Count(t.Context(), "c", store.Range{}); n != 1 || err != nil {
		t.Errorf("Count = %d, %v, want 1", n, err)
	}
}

// TestNetworkFileSystem: Open refuses a file on a network file system, and does not create it.
func TestNetworkFileSystem(t *testing.T) {
	dir := t.TempDir()
	for _, readOnly := range []bool{false, true} {
		path := filepath.Join(dir, fmt.Sprint("s.db", readOnly))
		if readOnly {
			open(t, path, nil)
		}
		o := &sqlitestore.Options{ReadOnly: readOnly}
		o.OnFileSystem(func(folder string) string {
			if folder == dir {
				return "NFS"
			}
			return ""
		})
		if s, err := sqlitestore.Open(t.Context(), path, o); err == nil || !strings.Contains(err.Error(), "network file system (NFS)") {
			t.Errorf("Open with ReadOnly %v: %v, %v, want a word on NFS", readOnly, s, err)
		}
		if _, err := os.Stat(path); !readOnly && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file was made: %v", err)
		}
	}
}
