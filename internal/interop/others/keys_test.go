package others

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/oidkit/oid/objectid"
)

// docs/how-to/ids-in-sql.md: without NOT NULL, SQLite stores a row that has no id.
func TestKeyNotNull(t *testing.T) {
	type loose struct {
		ID objectid.ID `gorm:"primaryKey;size:12"`
	}
	type strict struct {
		ID objectid.ID `gorm:"primaryKey;size:12;not null"`
	}
	db, err := gorm.Open(sqlite.Open(filepath.Join(t.TempDir(), "orders.db")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&loose{}, &strict{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Create(&[]loose{{}, {}}).Error; err != nil {
		t.Errorf("without NOT NULL: %v; docs/how-to/ids-in-sql.md says that there is no error", err)
	}
	if err := db.Create(&strict{}).Error; err == nil {
		t.Error("with NOT NULL, a row without an id is stored")
	}
}

// The expression of docs/how-to/ids-in-sql.md makes an id of an integer key in SQLite.
func TestFromIntegerKeys(t *testing.T) {
	page, err := os.ReadFile("../../../docs/how-to/ids-in-sql.md")
	if err != nil {
		t.Fatal(err)
	}
	expression := regexp.MustCompile("`(unhex\\(printf.*?)`").FindSubmatch(page)
	if expression == nil {
		t.Fatal("docs/how-to/ids-in-sql.md has no expression for SQLite")
	}
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE users (id INTEGER PRIMARY KEY, created_at TEXT); INSERT INTO users VALUES (7, '2026-11-01 02:00:00.999999999+02:00'), (4294967295, '2026-11-01'), (4294967296, '2026-11-01')"); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT " + string(expression[1]) + " FROM users ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for _, want := range []objectid.ID{
		objectid.MustParse("6ae681005ea1c0de00000007"),
		objectid.MustParse("6ae681005ea1c0deffffffff"),
		{}, // NULL, which a primary key refuses if it is NOT NULL
	} {
		var id objectid.ID
		rows.Next()
		if err := rows.Scan(&id); err != nil || id != want {
			t.Errorf("%v, %v; want %v", id, err, want)
		}
	}
}
