package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the database/sql driver "sqlite"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Options tune a Store. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// ReadOnly opens a file that must be there, and changes nothing in it.
	ReadOnly bool

	// Sync makes every commit wait until the disk has it, so that it survives
	// a loss of power too.
	Sync bool

	// Poll is how often Watch looks for news. Default: 100ms.
	Poll time.Duration

	// NewID makes the ids of documents that have none. Default: objectid.New.
	NewID func() objectid.ID
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Poll <= 0 {
		out.Poll = 100 * time.Millisecond
	}
	return out
}

// Store is a SQLite file. It implements [store.Store].
type Store struct {
	path    string
	options Options
	write   *sql.DB // one connection; nil if read-only
	read    *sql.DB
	closed  atomic.Bool
	tables  sync.Map // names of tables that are known to exist
}

var _ store.Store = (*Store)(nil)

// applicationID marks a file as ours, see SQLite's PRAGMA application_id.
const applicationID = 0x6F696431 // "oid1"

// Open opens the file at path and makes it if it is not there; the folder must
// be. The errors: the path is that of a folder, of a file that is no SQLite
// database or one of another program, of a file on a network file system or, unless
// o.ReadOnly is set, of a file that may not be written. With o.ReadOnly a missing
// file gives an error that wraps [fs.ErrNotExist]. A nil o stands for the zero
// Options.
func Open(ctx context.Context, path string, o *Options) (*Store, error) {
	s := &Store{options: o.withDefaults()}
	if err := s.open(ctx, path); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, errors.Join(err, s.Close()))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string) (err error) {
	if s.path, err = filepath.Abs(path); err != nil {
		return err
	}
	if err := s.checkFile(); err != nil {
		return err
	}
	if !s.options.ReadOnly {
		if s.write, err = sql.Open("sqlite", s.dsn("rwc", "_txlock", "immediate")); err != nil {
			return err
		}
		s.write.SetMaxOpenConns(1)
		if err := s.prepareFile(ctx); err != nil {
			return err
		}
	}
	if s.read, err = sql.Open("sqlite", s.dsn("ro")); err != nil {
		return err
	}
	if s.options.ReadOnly {
		var id, tables int
		err := s.read.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), count(*) FROM sqlite_schema").Scan(&id, &tables)
		if err == nil && id != applicationID && tables > 0 {
			err = errForeign
		}
		return s.explain(ctx, err)
	}
	return nil
}

// checkFile finds what SQLite would report with too few words, or not at all.
func (s *Store) checkFile() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !s.options.ReadOnly:
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
	if name := networkFS(filepath.Dir(s.path)); name != "" {
		return fmt.Errorf("it is on a network file system (%s), where SQLite's processes cannot share memory; use a local disk, or MongoDB", name)
	}
	if s.options.ReadOnly {
		return nil
	}
	if f, err := os.OpenFile(s.path, os.O_RDWR, 0); err == nil {
		return f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; give the permission to write, or open it for reading only", err)
	}
	return nil
}

var errForeign = errors.New("it is a SQLite database of another program; name another file")

// prepareFile marks a new file as ours and puts it into WAL mode. Both need a
// lock, for which several processes that begin at once must wait.
func (s *Store) prepareFile(ctx context.Context) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		var id, tables int
		if err := tx.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), count(*) FROM sqlite_schema").Scan(&id, &tables); err != nil {
			return err
		}
		if id == applicationID {
			return nil
		}
		if tables > 0 || id != 0 {
			return errForeign
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d;
			CREATE TABLE "^1commits" (seq INTEGER PRIMARY KEY, collection TEXT NOT NULL, low ANY NOT NULL, high ANY NOT NULL) STRICT`, applicationID))
		return err
	})
}

// dsn returns the data source name for the driver. The order matters: without
// the timeout in force the other pragmas fail when processes open at once.
func (s *Store) dsn(mode string, more ...string) string {
	q := url.Values{}
	q.Add("mode", mode)
	q.Add("_pragma", "busy_timeout(10000)")
	if mode == "ro" {
		q.Add("_pragma", "query_only(1)")
	} else {
		q.Add("_pragma", "journal_mode(WAL)")
		if s.options.Sync {
			q.Add("_pragma", "synchronous(FULL)")
		} else {
			q.Add("_pragma", "synchronous(NORMAL)")
		}
	}
	for i := 0; i < len(more); i += 2 {
		q.Add(more[i], more[i+1])
	}
	u := url.URL{Scheme: "file", Path: s.path, RawQuery: q.Encode()}
	return u.String()
}

// Close closes the file. Sequences of Find and Watch that are under way end with
// [store.ErrClosed].
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
