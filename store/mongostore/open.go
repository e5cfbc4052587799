// Package mongostore keeps documents on a MongoDB server, for more than one
// machine. It uses the official driver.
//
// Start with [Open], which returns a [store.Store]. Other programs that use the same
// database, such as mongosh, see ordinary documents with their _id.
//
// # What survives
//
// A write that returned is acknowledged as the URL's write concern asks; the
// server's default is a majority of the replica set. Conditional writes, and all
// calls of [Store.Linearizable], are acknowledged by a majority and read from the
// primary whatever the URL says.
//
// # Conditional writes
//
// The server compares the revision of a document, so a program that changes
// documents by other means must change the revision too. A document without a
// revision first gets one as its last field, and the rest of it is then compared.
//
// # Documents of others
//
// Other programs may store documents whose _id is not a [store.Key]: a date, a UUID,
// a document. Only the zero Range contains them.
//
// # What was tested where
//
// The whole contract was tested on FerretDB 1.24, which does not change documents
// atomically: the server of the tests makes changes take turns, and conditional writes
// are safe on MongoDB only. What Find and Linearizable exchange with a replica set was tested with the driver and a scripted
// server. With OID_TEST_MONGODB set to the URL of a MongoDB the tests use that.
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

// DefaultDatabase is the database of a URL that names none.
const DefaultDatabase = "oid"

// serverWait is how long a call waits for a server, unless the URL has
// serverSelectionTimeoutMS.
const serverWait = 10 * time.Second

// Store is a database on a MongoDB server. It implements [store.Store].
type Store struct {
	engine.Base // all methods of [store.Store] but Close
	db          *database
}

// database is the [engine.Database] of a Store.
type database struct {
	hosts  string
	client *mongo.Client
	life   *engine.Lifetime

	db         *mongo.Database
	consistent *mongo.Database // the same with other guarantees, see Linearizable
}

var _ store.Store = (*Store)(nil)

// Open connects to the database that uri names, a MongoDB connection string
// (mongodb:// or mongodb+srv://); without a name it is [DefaultDatabase]. The
// error says if uri cannot be understood or no server answers.
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
		if !strings.HasPrefix(uri, "mongodb+srv:") { // that asks the DNS
			err = engine.Reworded(store.ErrURL, "%v", err)
		}
		return nil, fmt.Errorf("open MongoDB store: %w", err)
	}
	s := newStore(database{
		hosts: strings.Join(config.Hosts, ","), client: client, life: new(engine.Lifetime),
		db: client.Database(name),
		consistent: client.Database(name, options.Database().
			SetReadPreference(readpref.Primary()).SetReadConcern(readconcern.Majority()).SetWriteConcern(writeconcern.Majority())),
	})
	if err := client.Ping(ctx, nil); err != nil {
		return nil, fmt.Errorf("open MongoDB store: %w", errors.Join(s.db.explain(ctx, err), s.Close()))
	}
	return s, nil
}

// Linearizable returns s with reads from the primary and writes that a majority of
// the servers has, whatever the URL says, see [store.Linearizable]. The two share
// their connections: closing one closes the other.
func (s *Store) Linearizable() store.Store {
	c := *s.db
	c.db = c.consistent
	return newStore(c)
}

func newStore(d database) *Store { return &Store{engine.NewBase(&d, d.life, batch), &d} }

// databaseName returns the name of the database in a connection string. Its errors
// leave the string out: it may hold a password.
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
		return "", errors.New("the name of the database in the URL is not well escaped")
	case strings.ContainsAny(name, "/\\. \"$\x00") || len(name) > 63:
		return "", fmt.Errorf("%q cannot be the name of a database", name)
	case name == "":
		return DefaultDatabase, nil
	}
	return name, nil
}

// closeTime is how long Close waits for a server that does not answer: it ends sessions
// there, which otherwise end by themselves.
const closeTime = time.Second

// Close ends the connections. Sequences of Find that are under way end
// with [store.ErrClosed].
func (s *Store) Close() error {
	if !s.db.life.End() {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), closeTime)
	defer stop()
	return s.db.client.Disconnect(ctx)
}

// explain says in err what to do where the driver's own text does not.
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

// attempts returns why each server could not be reached, if the driver has found none,
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
