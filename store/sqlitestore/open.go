// Package sqlitestore is an engine of package store that keeps documents in a SQLite file. It
// needs no installation, and several processes on one machine may share the file.
//
// Start with [Open], which returns a [store.Store] for a file, here called PATH. SQLite keeps
// two more files beside it: PATH-wal and PATH-shm.
//
// # Several processes
//
// Only one process writes at a time; the others wait until it has finished or their context is
// done. Readers do not wait. The file is in SQLite's WAL mode, which needs memory that all
// processes share, so Open refuses a file on a network file system.
//
// # What survives
//
// A write that has returned survives the end of the process. A power failure does not damage
// the file, but the last writes before it may be lost, unless [Options.Sync] is set.
//
// # Copying the file
//
// While a store is open, its latest writes are in the file PATH-wal. So a copy of PATH alone,
// made with cp for example, lacks them, and a copy of both files may be damaged if a process
// writes meanwhile. [Store.Backup] copies a store that is in use.
//
// # Moving the file
//
// If the file is deleted, moved or replaced while a store is open, the store refuses writes
// with [store.ErrMoved]: open it again. Of a moved file, the latest writes are still in PATH-wal.
// The first process that notices that PATH is missing copies them into the moved file, and so
// completes it. A process notices at its next write, or when it closes the store.
//
// If copying fails, the error names PATH-wal. Complete the moved file yourself then: if its path
// is now NEW, rename PATH-wal to NEW-wal before you open NEW. Do so too if all processes were
// killed before one of them noticed the move.
//
// # A folder that is not writable
//
// With [Options.ReadOnly], a store can be opened from a read-only disk, or by a user who may not
// write to the folder. Processes share memory in PATH-shm. If PATH-shm does not exist and cannot
// be created, the store assumes that the file does not change. As soon as another process begins
// to write, calls return an error: open the store again then. Writes that are only in PATH-wal
// cannot be read without PATH-shm; copy the files to a writable folder.
//
// # A full disk
//
// A write for which there is not enough space fails and stores nothing. A delete also needs a
// little space, in PATH-wal. If the disk is full, the store tries to reuse space that PATH-wal
// already has, so a delete can succeed where an insert fails.
//
// # Space
//
// After many deletions, the store makes the file smaller: half a minute later, or in Close. It
// leaves a tenth of the file free for new documents.
//
// # The file
//
// Each collection is a table:
//
//	CREATE TABLE "events" (_id ANY PRIMARY KEY, doc BLOB NOT NULL) STRICT, WITHOUT ROWID
//
// The table has the name of the collection, with ^ before each ^ and each upper-case letter,
// because names in SQLite are case-insensitive. If the name begins with sqlite_, which SQLite
// reserves, the table's name has ^0 before it. _id is an INTEGER, a REAL, a TEXT, or a BLOB
// of 12 bytes for an ObjectId, so that SQLite orders keys as package store does, and a range
// of keys is a search of the primary key. doc is the whole document as BSON, including its
// _id. Other programs may change rows if they keep _id and doc consistent and renew or remove
// the revision, as package store requires. PRAGMA user_version is the version of this format, 2.
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

// Options are the options of [Open]. A nil pointer means the zero value.
type Options struct {
	// ReadOnly opens the file for reading only. The file must exist, but neither the file
	// nor its folder needs to be writable.
	ReadOnly bool

	// Sync makes every write wait until the disk has stored it, so that it also survives a
	// power failure. Writes are slower then.
	Sync bool

	networkFS func(folder string) string // replaced by tests
}

// Store is a store in a SQLite file, opened by [Open]. It implements [store.Store] and
// [store.Signaler]. Any number of goroutines may share it.
type Store struct {
	engine.Base // all methods of [store.Store] except Close
	db          *database
}

// database is the [engine.Database] of a Store.
type database struct {
	path    string
	options Options
	write   *sql.DB // one connection; nil if read-only
	read    *sql.DB
	file    os.FileInfo // the file that was opened
	frozen  bool        // whether the file is read without shared memory, see openFrozen
	life    engine.Lifetime

	space     space
	listeners listeners

	readers    chan struct{} // holds one element per running read query
	statements statements
}

var _ store.Store = (*Store)(nil)

const (
	// applicationID is the value of SQLite's PRAGMA application_id by which this package
	// recognizes its own files: "oid1".
	applicationID = 0x6F696431

	// formatVersion is the value of PRAGMA user_version. It must be increased by any change of
	// the format that older versions of this package would misread.
	formatVersion = 2
)

// Open opens the store in the file at path. If the file does not exist, Open creates it in its
// folder, which must exist. With o.ReadOnly, Open creates nothing, and the error for a missing
// file wraps [fs.ErrNotExist]. A nil o means the zero Options.
//
// Open refuses a folder, a file that is not a SQLite database, the database of another
// program (the error then wraps [store.ErrForeign]), a database whose format has another version, and a file on a network file system.
// Without o.ReadOnly, it also refuses a file that is not writable.
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
	_, err = isOurs(ctx, s.read) // before writing anything: the file may belong to another program
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

// checkFile checks the file for problems that SQLite reports poorly or not at all, and
// creates the file if it does not exist. It never opens the file directly: closing it again
// would release the locks that other stores of this process have on it.
func (s *database) checkFile(ctx context.Context) error {
	info, err := os.Stat(s.path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && !s.options.ReadOnly:
		if info, err = os.Stat(filepath.Dir(s.path)); err != nil {
			return fmt.Errorf("find its folder: %w", err)
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
		return fmt.Errorf("it is on a network file system (%s), where processes cannot share memory; use a local disk, or PostgreSQL or MongoDB", name)
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
		return fmt.Errorf("%w; allow this user to write it, or open it for reading only", err)
	}
	return nil
}

// create creates the file, with a connection of its own. The other connections may not create a
// file: if the file was moved, they would create an empty one in its place.
func (s *database) create(ctx context.Context) error {
	db, err := sql.Open("sqlite", s.url(url.Values{"mode": {"rwc"}, "_pragma": {"busy_timeout(10000)"}}))
	if err != nil {
		return err
	}
	return errors.Join(db.PingContext(ctx), db.Close())
}

var errForeign = engine.Reworded(store.ErrForeign, "it is a SQLite database of another program; name another file")

// isOurs reports whether a database was written by this package. It returns false for an empty
// database, errForeign for the database of another program, and another error for a database
// that another version of this package has written.
func isOurs(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (bool, error) {
	var id, version, tables int
	err := db.QueryRowContext(ctx, "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version").Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return false, err
	case id == applicationID && version != formatVersion:
		return false, fmt.Errorf("its format has version %d, but this program reads version %d; use the oid that wrote it, or name another file", version, formatVersion)
	case id != applicationID && (id != 0 || tables > 0):
		return false, errForeign
	}
	return id == applicationID, nil
}

// prepareFile marks a new file as written by this package. Several processes may do that at once.
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

// dsn returns the data source name for the driver. busy_timeout must come first: without a
// timeout, the other pragmas fail if several processes open the file at once. For writing the
// timeout is short, because SQLite does not notice that a context is done while it waits; update
// tries again.
func (s *database) dsn(mode string) string {
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)", "query_only(1)"}}
	if mode != "ro" {
		sync := "NORMAL"
		if s.options.Sync {
			sync = "FULL"
		}
		autoVacuum := fmt.Sprintf("auto_vacuum(%d)", incremental) // has an effect on new files only
		q["_txlock"], q["_pragma"] = []string{"immediate"}, []string{"busy_timeout(500)", autoVacuum, "journal_mode(WAL)", "synchronous(" + sync + ")"}
	}
	return s.url(q)
}

// url returns the file's URL with these parameters. It has no host, before which SQLite expects
// a slash: a path of Windows begins with a drive or with the name of a server.
func (s *database) url(q url.Values) string {
	if s.frozen {
		q.Set("immutable", "1")
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: s.path, RawQuery: q.Encode()}
	return u.String()
}

// Close closes the store, after making the file smaller if many documents were deleted.
// Loops over a result of Find end with [store.ErrClosed].
func (s *Store) Close() error {
	if !s.db.life.End() {
		return nil
	}
	s.db.listeners.close()
	s.db.vacuumIfDue()
	_ = s.db.checkMoved(context.Background()) // if the file was moved, save the latest writes
	var errs []error
	for _, db := range []*sql.DB{s.db.read, s.db.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
