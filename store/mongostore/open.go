// Package mongostore is an engine of package store that keeps documents on a MongoDB
// server, which programs on several machines may share. It uses MongoDB's official driver.
//
// Start with [Open], which returns a [store.Store]. Other programs that use the same
// database, such as mongosh, see ordinary documents with their _id.
//
// # What survives
//
// A write that has returned is acknowledged as the write concern of the URL says; the server's
// default is acknowledgement by a majority of the replica set. Conditional writes, and all
// calls of a store that [Store.Linearizable] returned, are always acknowledged by a majority and
// read from the primary, whatever the URL says.
//
// # Conditional writes
//
// The server compares only the revision of a document, its field _rev, and not the whole
// document. So a program that changes documents without this package must change the revision
// too. If a document has no revision, its first Swap reads and compares the whole document, adds
// a revision to it as its last field, and then replaces it. If that Swap is interrupted, the
// document may keep the added revision.
//
// # Documents of other programs
//
// Other programs may store documents whose _id cannot be a [store.Key], such as a date, a UUID
// or a document. Find, Count and DeleteRange include these documents only if the Range, and
// After in a Query, are zero.
//
// # Tested with
//
// All promises of package store were tested on FerretDB 1.24, a free server with MongoDB's
// protocol, and not on MongoDB itself. FerretDB 1 does not change documents atomically, so do
// not use conditional writes with it; in the tests, a proxy lets only one change run at a time.
// The messages that Find and Linearizable exchange with a replica set were tested with the
// driver and a scripted server. If OID_TEST_MONGODB is set to the URL of a MongoDB server, the
// tests use that server.
package mongostore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// DefaultDatabase is the database that is used if the URL names none.
const DefaultDatabase = "oid"

// serverWait is the maximum time that a call waits for a server. serverSelectionTimeoutMS in
// the URL changes it.
const serverWait = 10 * time.Second

// Store is a store in a database of a MongoDB server, opened by [Open]. It implements
// [store.Store]. Any number of goroutines may share it.
type Store struct {
	engine.Base // all methods of [store.Store] except Close
	db          *database
}

// database is the [engine.Database] of a Store.
type database struct {
	hosts  string
	client *mongo.Client
	life   *engine.Lifetime

	db           *mongo.Database
	linearizable *mongo.Database // the same database with the guarantees of Linearizable
}

var _ store.Store = (*Store)(nil)

// Open connects to a MongoDB server. uri is a MongoDB connection string (mongodb:// or
// mongodb+srv://) with the name of the database; without a name, Open uses [DefaultDatabase].
// If uri is invalid, the error wraps [store.ErrURL]. Open also fails if no server answers.
func Open(ctx context.Context, uri string) (*Store, error) {
	name, err := databaseName(uri)
	if err != nil {
		return nil, fmt.Errorf("open MongoDB store: %w", engine.Reworded(store.ErrURL, "%v", err))
	}
	config := options.Client().ApplyURI(uri)
	if config.ServerSelectionTimeout == nil {
		config.SetServerSelectionTimeout(serverWait)
	}
	client, err := mongo.Connect(config)
	if err != nil {
		if !strings.HasPrefix(uri, "mongodb+srv:") { // mongodb+srv needs the DNS, so the URL may be right
			err = engine.Reworded(store.ErrURL, "%v", err)
		}
		return nil, fmt.Errorf("open MongoDB store: %w", err)
	}
	s := newStore(database{
		hosts: strings.Join(config.Hosts, ","), client: client, life: new(engine.Lifetime),
		db: client.Database(name),
		linearizable: client.Database(name, options.Database().
			SetReadPreference(readpref.Primary()).SetReadConcern(readconcern.Majority()).SetWriteConcern(writeconcern.Majority())),
	})
	if err := client.Ping(ctx, nil); err != nil {
		return nil, fmt.Errorf("open MongoDB store: %w", errors.Join(s.db.explain(ctx, err), s.Close()))
	}
	return s, nil
}

// Linearizable returns a store that uses the same database but, whatever the URL says, reads
// from the primary, and returns from a write only when a majority of the replica set has
// acknowledged it. [store.Linearizable] calls this method. The two stores share their
// connections: closing one closes the other.
func (s *Store) Linearizable() store.Store {
	c := *s.db
	c.db = c.linearizable
	return newStore(c)
}

func newStore(d database) *Store { return &Store{engine.NewBase(&d, d.life, batch), &d} }

// databaseName returns the name of the database in a connection string. Its errors do not contain
// the string, which may contain a password.
func databaseName(uri string) (string, error) {
	base, _, _ := strings.Cut(uri, "?")
	scheme, rest, found := strings.Cut(base, "://")
	if !found || scheme != "mongodb" && scheme != "mongodb+srv" {
		return "", errors.New("the URL does not begin with mongodb:// or mongodb+srv://")
	}
	_, path, _ := strings.Cut(rest, "/")
	name, err := url.PathUnescape(path)
	switch {
	case err != nil:
		return "", errors.New("the name of the database in the URL has an invalid percent-encoding")
	case strings.ContainsAny(name, "/\\. \"$\x00") || len(name) > 63:
		return "", fmt.Errorf("%q cannot be the name of a database", name)
	case name == "":
		return DefaultDatabase, nil
	}
	return name, nil
}

// closeTime is the maximum time that Close waits for a server that does not answer. Close only
// ends sessions on the server, which otherwise expire.
const closeTime = time.Second

// Close closes the connections. Loops over a result of Find end with [store.ErrClosed]. If the
// server does not answer, Close waits for at most one second.
func (s *Store) Close() error {
	if !s.db.life.End() {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), closeTime)
	defer stop()
	return s.db.client.Disconnect(ctx)
}

// explain replaces errors of the driver by those of package store, and adds advice. It returns
// the context's error if ctx is done, and [store.ErrClosed] if the store is closed.
func (s *database) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := s.life.Err(ctx); ended != nil {
		return ended
	}
	switch {
	case errors.Is(err, mongo.ErrClientDisconnected):
		return store.ErrClosed
	case mongo.IsDuplicateKeyError(err):
		return fmt.Errorf("%w: %w", store.ErrDuplicate, err)
	case mongo.IsTimeout(err), mongo.IsNetworkError(err):
		return engine.Unreachable("MongoDB", s.hosts, attempts(err))
	}
	return err
}

// attempts returns the errors of all servers if err says that the driver found no usable server,
// and err itself otherwise.
func attempts(err error) error {
	none, ok := errors.AsType[topology.ServerSelectionError](err)
	if !ok {
		return err
	}
	var all error
	for _, server := range none.Desc.Servers {
		all = errors.Join(all, server.LastError)
	}
	return cmp.Or(all, err)
}
