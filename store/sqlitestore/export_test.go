package sqlitestore

import (
	"context"
	"time"

	"github.com/oidkit/oid/store"
)

// PageQuery returns the query that Find sends to SQLite, for tests of its plan.
func PageQuery(collection string, q store.Query) (string, []any) {
	asked := pageQuery(collection, q)
	return asked.text, asked.args
}

// MaxStatements is how many statements are kept prepared.
const MaxStatements = maxStatements

// Statements returns how many are.
func (s *Store) Statements() int { return int(s.db.statements.n.Load()) }

// OccupyReaders takes every reader's turn until release is called.
func (s *Store) OccupyReaders() (release func()) {
	for range maxReaders {
		s.db.readers <- struct{}{}
	}
	return func() {
		for range maxReaders {
			<-s.db.readers
		}
	}
}

// Reading returns how many queries for reading are under way.
func (s *Store) Reading() int { return len(s.db.readers) }

// OnFileSystem makes Open take folders to be on the network file systems that find
// names.
func (o *Options) OnFileSystem(find func(folder string) string) { o.networkFS = find }

// GiveBackAfter makes the store give space back so long after there is something to give
// back.
func (s *Store) GiveBackAfter(delay time.Duration) { s.db.space.delay = delay }

// DropTable removes the table of a collection, as another program would.
func (s *Store) DropTable(ctx context.Context, collection string) error {
	_, err := s.db.remove(ctx, "DROP TABLE "+table(collection))
	return err
}
