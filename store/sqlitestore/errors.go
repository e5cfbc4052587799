package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/oidkit/oid/store"
)

// explain says in err what to do where SQLite's own text does not.
func (s *database) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := s.life.Err(ctx); ended != nil {
		return ended
	}
	if errors.Is(err, sql.ErrConnDone) {
		return store.ErrClosed
	}
	for _, a := range advice {
		if c := extended(err); c == a.code || c&0xFF == a.code {
			return fmt.Errorf("%w: %s", err, a.text)
		}
	}
	return err
}

// advice is what to do about errors, by extended or primary result codes.
var advice = []struct {
	code int
	text string
}{
	{sqlite3.SQLITE_IOERR_WRITE, "the file could not be written; nothing of this was stored. It may have reached the largest size that its file system or this process (ulimit -f) allows, or the disk fails"},
	{sqlite3.SQLITE_READONLY_DIRECTORY, notOpened},
	{sqlite3.SQLITE_CANTOPEN, notOpened},
	{sqlite3.SQLITE_FULL, "the disk is full; nothing of this was stored, make room and try again"},
	{sqlite3.SQLITE_READONLY, "the file may not be written; give the permission, or move it"},
	{sqlite3.SQLITE_NOTADB, "the file is not a SQLite database; name another"},
	{sqlite3.SQLITE_CORRUPT, "the file is damaged; restore it, or save what the command \"sqlite3 FILE .recover\" finds"},
}

const notOpened = "the file and those beside it that end in -wal and -shm must be readable, and their folder writable; or copy them to such a folder"

// extended returns the extended result code of SQLite, or 0.
func extended(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// code returns the primary result code of SQLite, or 0.
func code(err error) int { return extended(err) & 0xFF }

// isMissing reports whether err is that of a table that does not exist, which has no code
// of its own. SQLite reads the schema again and prepares a statement a second time if its
// table is not there and the schema had changed. If it changed again meanwhile the code
// is SQLITE_SCHEMA: the table was not there when the schema was read.
func isMissing(err error) bool {
	c := code(err)
	return (c == sqlite3.SQLITE_ERROR || c == sqlite3.SQLITE_SCHEMA) && strings.Contains(err.Error(), "no such table")
}

// isTaken reports whether err is that of a primary key that is there already.
func isTaken(err error) bool { return extended(err) == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY }
