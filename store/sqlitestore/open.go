// Package sqlitestore keeps documents in a SQLite file, which needs no
// installation and which several processes on one machine may share.
//
// Start with [Open], which returns a [store.Store].
//
// # Several processes
//
// Writers take turns: each waits for the others as long as its context allows.
// Readers do not wait. The file is in WAL mode, which needs memory that all
// processes share, so Open refuses a file on a network file system.
//
// # What survives
//
// A write that returned survives the end of the process. After a loss of power the
// file is sound, but what was committed in the last moments before may be missing,
// unless [Options.Sync] is set.
//
// # Copying and moving the file
//
// While a store is open, its latest commits are in the file PATH-wal. A copy of
// the file alone, made with cp for example, does not have them, and a copy of both
// files may be damaged if anybody writes meanwhile. [Store.Backup] copies a store
// that is in use.
//
// A store whose file was deleted, moved or replaced while it is open refuses writes:
// open it again. The first process that notices that the path has no
// file any more, at the latest when it closes the store, copies the latest commits
// into the moved file, which is then complete. If that fails, the error names the file
// PATH-wal: move it beside the moved file, with that file's name and -wal. This is also
// necessary if all processes are killed before they notice.
//
// # A folder that is not writable
//
// With [Options.ReadOnly] a store can be read where nothing may be written, on a read-only
// disk or by a user without the right to. If its folder has no memory that processes share
// (PATH-shm), it cannot be created there: the file is then read as one that does not
// change, and calls return an error as soon as another process begins to write. Open the
// store again then. Commits that were left in PATH-wal without PATH-shm cannot be read there;
// copy the files to a folder that is writable.
//
// # A full disk
//
// A write without enough space stores nothing and fails. A delete also needs a little
// space for the log; it uses what the log has already allocated.
//
// # Space
//
// After many deletions the file gives back what it does not need: half a minute later, or
// at Close. It keeps a tenth of its size for documents to come.
//
// # The file
//
// Each collection is a table of that name, where ^ and upper-case letters are
// preceded by ^, since SQLite's names are case-insensitive:
//
//	CREATE TABLE "events" (_id ANY PRIMARY KEY, doc BLOB NOT NULL) STRICT, WITHOUT ROWID
//
// _id is an INTEGER, a REAL, a TEXT or a BLOB of 12 bytes, so that SQLite's own
// order is that of the keys; doc is the document with its _id, as BSON. A
// range of keys is a search of the primary key. Other programs may change rows if they keep _id and doc consistent.
// PRAGMA user_version is the version of this format, 1.
package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Options tune a Store. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// ReadOnly opens a file that must be there, and changes nothing in it. Neither
	// the file nor its folder needs to be writable.
	ReadOnly bool

	// Sync makes every commit wait until the disk has it, so that it survives
	// a loss of power too.
	Sync bool

	networkFS func(folder string) string // tests have another
}

// Store is a SQLite file. It implements [store.Store].
type Store struct {
	engine.Base // all methods of [store.Store] but Close
	db          *database
}

// database is the [engine.Database] of a Store.
type database struct {
	path    string
	options Options
	write   *sql.DB // one connection; nil if read-only
	read    *sql.DB
	file    os.FileInfo // the file that was opened
	frozen  bool        // it is read without the memory that processes share
	life    engine.Lifetime

	space     space
	listeners listeners

	readers    chan struct{} // one for each query for reading under way
	statements statements
}

var _ store.Store = (*Store)(nil)

// applicationID marks a file as ours, see SQLite's PRAGMA application_id, and
// formatVersion says how documents are kept in it, see PRAGMA user_version. A
// change that an older program would misread raises it.
const (
	applicationID = 0x6F696431 // "oid1"
	formatVersion = 1
)

// Open opens the file at path, and creates it if it does not exist; its folder
// must exist. It fails for a folder, a file that is not a SQLite database or that of
// another program, a file that a later version of this package has written, a file
// on a network file system and, unless o.ReadOnly is set, a file that may not be
// written. With o.ReadOnly a missing file gives an error that wraps
// [fs.ErrNotExist]. A nil o means the zero Options.
func Open(ctx context.Context, path string, o *Options) (*Store, error) {
	s := &database{options: *cmp.Or(o, &Options{}), readers: make(chan struct{}, maxReaders), space: space{delay: vacuumDelay}}
	if s.options.networkFS == nil {
		s.options.networkFS = networkFS
	}
	opened := &Store{engine.NewBase(s, &s.life, manyKeys), s}
	if err := s.open(ctx, path); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, errors.Join(err, opened.Close()))
	}
	return opened, nil
}

func (s *database) open(ctx context.Context, path string) (err error) {
	if s.path, err = filepath.Abs(path); err != nil {
		return err
	}
	if err := s.checkFile(ctx); err != nil {
		return err
	}
	if err := s.openReaders(s.dsn("ro")); err != nil {
		return err
	}
	_, err = isOurs(ctx, s.read) // before anything is written to what may not be ours
	if c := code(err); s.options.ReadOnly && (c == sqlite3.SQLITE_CANTOPEN || c == sqlite3.SQLITE_READONLY) {
		err = s.openFrozen(ctx, err)
	}
	if err != nil {
		return s.explain(ctx, err)
	}
	if s.options.ReadOnly {
		if s.file == nil {
			s.file, err = os.Stat(s.path)
		}
		return err
	}
	if s.write, err = sql.Open("sqlite", s.dsn("rw")); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if err := s.prepareFile(ctx); err != nil {
		return err
	}
	s.file, err = os.Stat(s.path)
	return err
}

func (s *database) openReaders(dsn string) (err error) {
	if s.read, err = sql.Open("sqlite", dsn); err != nil {
		return err
	}
	s.read.SetMaxIdleConns(maxReaders)
	s.read.SetConnMaxIdleTime(time.Minute)
	return nil
}

// checkFile finds what SQLite would report with too few words, or not at all, and
// creates a file that is not there. It does not open the file by itself: closing it again
// would end the locks of all stores of this process in it.
func (s *database) checkFile(ctx context.Context) error {
	info, err := os.Stat(s.path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && !s.options.ReadOnly:
		if info, err = os.Stat(filepath.Dir(s.path)); err != nil {
			return fmt.Errorf("its folder: %w", err)
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", filepath.Dir(s.path))
		}
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a folder; name a file in it")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	if name := s.options.networkFS(filepath.Dir(s.path)); name != "" {
		return fmt.Errorf("it is on a network file system (%s), where SQLite's processes cannot share memory; use a local disk, or MongoDB", name)
	}
	switch {
	case s.options.ReadOnly:
		return nil
	case missing:
		err = s.create(ctx)
	default:
		err = checkWritable(s.path)
	}
	if err != nil {
		return fmt.Errorf("%w; give the permission to write, or open it for reading only", err)
	}
	return nil
}

// create creates the file. No other connection does so: it would, when it opens, after
// the file was moved.
func (s *database) create(ctx context.Context) error {
	db, err := sql.Open("sqlite", s.url(url.Values{"mode": {"rwc"}, "_pragma": {"busy_timeout(10000)"}}))
	if err != nil {
		return err
	}
	return errors.Join(db.PingContext(ctx), db.Close())
}

var errForeign = errors.New("it is a SQLite database of another program; name another file")

// isOurs reports whether a database is marked as ours. One that is neither ours
// nor empty gives errForeign, and one of a later version an error that says so.
func isOurs(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (bool, error) {
	var id, version, tables int
	err := db.QueryRowContext(ctx, "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version").Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return false, err
	case id == applicationID && version > formatVersion:
		return false, fmt.Errorf("its format has version %d, this program knows versions up to %d; use a newer oid", version, formatVersion)
	case id == applicationID:
		return true, nil
	case id != 0 || tables > 0:
		return false, errForeign
	}
	return false, nil
}

// prepareFile marks a new file as ours. Several processes may do so at once.
func (s *database) prepareFile(ctx context.Context) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		ours, err := isOurs(ctx, tx)
		if ours || err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, formatVersion))
		return err
	})
}

// dsn returns the data source name for the driver. The order matters: without
// the timeout in force the other pragmas fail when processes open at once. For
// writing it is short because update tries again; a context that ends meanwhile
// is noticed only then.
func (s *database) dsn(mode string) string {
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)", "query_only(1)"}}
	if mode != "ro" {
		sync := "NORMAL"
		if s.options.Sync {
			sync = "FULL"
		}
		autoVacuum := fmt.Sprintf("auto_vacuum(%d)", incremental) // of a new file
		q["_txlock"], q["_pragma"] = []string{"immediate"}, []string{"busy_timeout(500)", autoVacuum, "journal_mode(WAL)", "synchronous(" + sync + ")"}
	}
	return s.url(q)
}

// url returns the file's URL with these parameters.
func (s *database) url(q url.Values) string {
	if s.frozen {
		q.Set("immutable", "1")
	}
	u := url.URL{Scheme: "file", Path: s.path, RawQuery: q.Encode()}
	return u.String()
}

// Close gives back the space that deletions have freed and closes the file. Sequences
// of Find that are under way end with [store.ErrClosed].
func (s *Store) Close() error {
	if !s.db.life.End() {
		return nil
	}
	s.db.listeners.close()
	s.db.giveBack()
	_ = s.db.checkPlace(context.Background()) // to save what was stored if it was moved
	var errs []error
	for _, db := range []*sql.DB{s.db.read, s.db.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
