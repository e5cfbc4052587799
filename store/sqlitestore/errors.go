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

// explain adds advice to an error of SQLite. It returns the context's error if ctx is done, and
// [store.ErrClosed] if the store is closed.
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

// advice lists what users can do about errors, by extended or primary result code of SQLite.
var advice = []struct {
	code int
	text string
}{
	{sqlite3.SQLITE_IOERR_WRITE, "the file could not be written, and nothing was stored. The file may have reached the maximum size of its file system or of this process (ulimit -f), or the disk may be failing"},
	{sqlite3.SQLITE_READONLY_DIRECTORY, notOpened},
	{sqlite3.SQLITE_CANTOPEN, notOpened},
	{sqlite3.SQLITE_FULL, "the disk is full, and nothing was stored; free some space and try again"},
	{sqlite3.SQLITE_READONLY, "the file is not writable; allow this user to write it, or move it"},
	{sqlite3.SQLITE_NOTADB, "the file is not a SQLite database; name another file"},
	{sqlite3.SQLITE_CORRUPT, "the file is damaged; restore a backup, or recover documents with the command \"sqlite3 FILE .recover\""},
}

const notOpened = "the file, and the files with its name and -wal or -shm, must be readable, and their folder writable; if they are not, copy the files to a folder where they are"

// extended returns the extended result code of an error of SQLite, or 0 for other errors.
func extended(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// code returns the primary result code of an error of SQLite, or 0 for other errors.
func code(err error) int { return extended(err) & 0xFF }

// isMissing reports whether err means that a table does not exist. SQLite has no code for
// that, only a text. If the schema changed after SQLite had read it, SQLite reads it again and
// prepares the statement again. If the schema changes once more meanwhile, the code is
// SQLITE_SCHEMA instead of SQLITE_ERROR.
func isMissing(err error) bool {
	c := code(err)
	return (c == sqlite3.SQLITE_ERROR || c == sqlite3.SQLITE_SCHEMA) && strings.Contains(err.Error(), "no such table")
}

// isTaken reports whether err means that another row has the primary key.
func isTaken(err error) bool { return extended(err) == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY }
