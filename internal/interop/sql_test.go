package interop

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

func openSQLite(t *testing.T) *sql.DB {
	t.Helper()
	db := testenv.Must(sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "test.db")))(t)
	t.Cleanup(func() { testenv.WantError(t, "Close", db.Close(), nil) })
	return db
}

func TestSQLColumns(t *testing.T) {
	db := openSQLite(t)
	testenv.Must(db.Exec("CREATE TABLE docs (raw BLOB, hex TEXT, parent BLOB, note TEXT)"))(t)
	id := objectid.New()
	testenv.Must(db.Exec("INSERT INTO docs VALUES (?, ?, ?, ?)", id, objectid.Hex{ID: id}, objectid.ID{}, objectid.Hex{}))(t)

	var rawType, hexType, parentType, noteType, hexText string
	testenv.NoError(t, db.QueryRow("SELECT typeof(raw), typeof(hex), typeof(parent), typeof(note), hex FROM docs").Scan(&rawType, &hexType, &parentType, &noteType, &hexText))
	if rawType != "blob" || hexType != "text" || parentType != "null" || noteType != "null" || hexText != id.String() {
		t.Errorf("stored as %s, %s (%s), %s and %s", rawType, hexType, hexText, parentType, noteType)
	}

	var raw, fromHex objectid.ID
	var hex objectid.Hex
	parent := id
	testenv.NoError(t, db.QueryRow("SELECT raw, hex, hex, parent FROM docs").Scan(&raw, &fromHex, &hex, &parent))
	if raw != id || fromHex != id || hex.ID != id || !parent.IsZero() {
		t.Errorf("read %v, %v, %v and %v, want %v and zero", raw, fromHex, hex, parent, id)
	}

	var nullable sql.Null[objectid.ID]
	if err := db.QueryRow("SELECT parent FROM docs").Scan(&nullable); err != nil || nullable.Valid {
		t.Errorf("NULL was read as %v, %v", nullable, err)
	}
	if err := db.QueryRow("SELECT raw FROM docs").Scan(&nullable); err != nil || !nullable.Valid || nullable.V != id {
		t.Errorf("an id was read as %v, %v", nullable, err)
	}
}

func TestSQLRefusesWhatIsNoID(t *testing.T) {
	db := openSQLite(t)
	id := objectid.New()
	for _, value := range []string{
		"'hello world!'", "''", "x''", "x'00'", "'507f1f77bcf86cd79943901g'", "42", "1.5",
		"x'303132333435363738394142434445464748494a4b4c4d4e'", // 24 bytes that are no digits
		"datetime('now')",
	} {
		got := id
		err := db.QueryRow("SELECT " + value).Scan(&got)
		if !errors.Is(err, objectid.ErrInvalid) || got != id {
			t.Errorf("%s: %v, left %v", value, err, got)
		}
	}
}

// A range finds by the key alone what was made in a stretch of time, in columns
// of both kinds, and in the order of time.
func TestSQLRange(t *testing.T) {
	db := openSQLite(t)
	testenv.Must(db.Exec("CREATE TABLE docs (raw BLOB PRIMARY KEY, hex TEXT UNIQUE) WITHOUT ROWID"))(t)
	start := time.Unix(1_800_000_000, 0)
	var now time.Time
	g := testenv.Must(objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return now }}))(t)
	var want []objectid.ID
	for s := range 100 {
		now = start.Add(time.Duration(s) * time.Second)
		id := g.New()
		testenv.Must(db.Exec("INSERT INTO docs VALUES (?, ?)", id, objectid.Hex{ID: id}))(t)
		if s >= 20 && s < 30 {
			want = append(want, id)
		}
	}
	r := objectid.Between(start.Add(20*time.Second), start.Add(30*time.Second))
	for column, condition := range map[string]func(string, int) (string, []any){"raw": r.SQL, "hex": r.SQLHex} {
		for _, first := range []int{0, 1} { // SQLite takes both kinds of placeholders
			where, args := condition(column, first)
			rows := testenv.Must(db.Query("SELECT "+column+" FROM docs WHERE "+where+" ORDER BY "+column, args...))(t)
			var got []objectid.ID
			for rows.Next() {
				var id objectid.ID
				testenv.WantError(t, "Scan", rows.Scan(&id), nil)
				got = append(got, id)
			}
			testenv.WantError(t, column, errors.Join(rows.Err(), rows.Close()), nil)
			if !slices.Equal(got, want) {
				t.Errorf("%s: WHERE %s finds %v, want %v", column, where, got, want)
			}
		}
	}
}
