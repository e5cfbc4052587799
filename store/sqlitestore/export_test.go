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

// MaxStatements is the maximum number of statements that are kept prepared.
const MaxStatements = maxStatements

// Statements returns the number of prepared statements.
func (s *Store) Statements() int { return int(s.db.statements.n.Load()) }

// OccupyReaders makes all other read queries wait until release is called.
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

// Reading returns the number of running read queries.
func (s *Store) Reading() int { return len(s.db.readers) }

// OnFileSystem replaces the function that returns the name of the network file system of a
// folder.
func (o *Options) OnFileSystem(find func(folder string) string) { o.networkFS = find }

// GiveBackAfter sets the delay between many deletions and making the file smaller.
func (s *Store) GiveBackAfter(delay time.Duration) { s.db.space.delay = delay }

// DropTable removes the table of a collection, as another program would.
func (s *Store) DropTable(ctx context.Context, collection string) error {
	_, err := s.db.remove(ctx, "DROP TABLE "+table(collection))
	return err
}
