// Package pgstore keeps documents in a PostgreSQL database, for more than one
// machine.
//
// Start with [Open], which returns a [store.Store]. The URL is PostgreSQL's own,
// with the schema of the tables as one more parameter:
//
//	postgres://user:password@db1,db2/shop?target_session_attrs=read-write&oid_schema=oid
//
// # What survives
//
// A write that returned is committed as the server's setting synchronous_commit
// requires: by default it is on the disk of the primary and, if the server has
// synchronous standbys, on theirs too.
//
// A call whose connection is lost, because the server was restarted or a standby
// became the primary, connects to the host that accepts writes and tries again for
// 30 seconds or until its context ends. If the answer to a commit was lost, the call finds out whether the
// commit was done, so that nothing is written twice and an insert is not refused as a
// duplicate of itself. If a document that Delete or SwapMany was to delete is not there then, the error
// wraps [store.ErrNotFound] and says that this call may have deleted it: nobody can find that out. DeleteRange may have
// removed documents that it does not count. If another writer has replaced a document after Replace stored it and
// before the connection was back, Replace stores its document again.
//
// Deadlocks and serialization failures are tried again too. Calls that write many
// documents write them in the order of their keys, so that these are rare.
//
// # Poolers
//
// A pooler that lends a connection for one transaction, such as pgbouncer with
// pool_mode = transaction, is detected when the store opens: statements are then not
// kept prepared, and signals do not arrive. Nothing has to be configured.
//
// # The tables
//
// Each collection is a table of that name in the schema:
//
//	CREATE TABLE oid.events (
//		_id  bytea  PRIMARY KEY,
//		doc  bytea  NOT NULL,
//		call bigint NOT NULL)
//
// _id is the key in bytes whose order is that of the keys: a tag, then the number,
// the string or the twelve bytes of the ObjectId (after 30 in hexadecimal), so a range
// of keys is a scan of the primary key. A string has at most 2,600 bytes. doc is
// the document with its _id, as BSON, and call is a random number of the call that inserted
// it. A name that begins with ^ has ^0 before
// it. A name of more than 63 bytes, which PostgreSQL does not have, is ^2 with a digest
// and the name's beginning; the comment of the table is the name. The table ^1format
// holds the version of all this, and Open refuses one that it does not know.
//
// Documents that are replaced many times a second, such as records with a heartbeat,
// stay in their place if there is room for the next version beside them. SwapMany
// therefore sets the fillfactor of a table that has none to 50; other values can be
// set with ALTER TABLE.
//
// # Proven on
//
// The tests run on PostgreSQL 15 and on pgbouncer 1.18 in front of it.
package pgstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// DefaultSchema is the schema of a URL without oid_schema.
const DefaultSchema = "oid"

// retryFor is how long a call tries again after it lost its connection to the
// server, for example because that failed over.
const retryFor = 30 * time.Second

// Limits that a URL may change by connect_timeout and pool_max_conns.
const (
	connectTimeout = 5 * time.Second // of one host
	maxConns       = 16
)

// Store is a schema of a PostgreSQL database. It implements [store.Store].
type Store struct {
	engine.Base // all methods of [store.Store] but Close
	db          *database
}

// database is the [engine.Database] of a Store.
type database struct {
	schema    string
	hosts     string
	pool      *pgxpool.Pool
	direct    bool // no pooler lends connections of others
	listener  listener
	announcer announcer
	roomy     sync.Map // collections that leaveRoom has seen
	life      engine.Lifetime
}

var (
	_ store.Store    = (*Store)(nil)
	_ store.Signaler = (*Store)(nil)
)

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Open connects to the database that uri names, a URL of PostgreSQL
// (postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS), which may list several
// hosts. Beside libpq's parameters and pgx's pool_max_conns it may have oid_schema,
// the schema of the tables; without it that is [DefaultSchema]. Nothing is created
// before the first document comes. The error says if uri cannot be understood, no
// server answers, or the schema belongs to another program or a newer version of
// this one.
func Open(ctx context.Context, uri string) (*Store, error) {
	s := &database{}
	s.announcer.s = s
	opened := &Store{engine.NewBase(s, &s.life, manyKeys), s}
	if err := s.open(ctx, uri); err != nil {
		return nil, fmt.Errorf("open PostgreSQL store: %w", errors.Join(err, opened.Close()))
	}
	return opened, nil
}

// readBuffer is how much is read from the server at once, in bytes: a page of documents
// comes with fewer calls than with the 8 KB of pgx.
const readBuffer = 64 << 10

func (s *database) open(ctx context.Context, uri string) error {
	if !strings.HasPrefix(uri, "postgres://") && !strings.HasPrefix(uri, "postgresql://") {
		return engine.Reworded(store.ErrURL, "the URL does not begin with postgres:// or postgresql://")
	}
	config, err := pgxpool.ParseConfig(uri)
	if err != nil {
		return engine.Reworded(store.ErrURL, "%v", err) // pgx leaves the password out
	}
	if err := s.takeSchema(config.ConnConfig.RuntimeParams); err != nil {
		return err
	}
	s.hosts = hosts(config.ConnConfig)
	if config.ConnConfig.ConnectTimeout == 0 || !strings.Contains(uri, "connect_timeout=") {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(uri, "pool_max_conns=") {
		config.MaxConns = maxConns
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "oid"
	}
	config.ConnConfig.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(bufio.NewReaderSize(r, readBuffer), w)
	}
	if err := s.probe(ctx, config); err != nil {
		return s.explain(ctx, err)
	}
	s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	s.listener.start(s, config.ConnConfig)
	return err
}

// probe connects once and learns whether a pooler is in between. Such a one lends
// another connection to the server for each transaction, so there statements are not
// prepared and notifications do not arrive. It gives itself away by the id of the
// server's process.
func (s *database) probe(ctx context.Context, config *pgxpool.Config) error {
	unprepared := config.ConnConfig.Copy()
	unprepared.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	c, err := pgx.ConnectConfig(ctx, unprepared)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	var pid uint32
	if err := c.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return err
	}
	if s.direct = pid == c.PgConn().PID(); !s.direct {
		config.ConnConfig = unprepared
	}
	_, err = s.checkFormat(ctx, c)
	return err
}

// takeSchema takes the name of the schema out of the parameters.
func (s *database) takeSchema(parameters map[string]string) error {
	name, given := parameters["oid_schema"]
	delete(parameters, "oid_schema")
	switch {
	case !given:
		name = DefaultSchema
	case name == "" || len(name) > maxIdentifier || !utf8.ValidString(name) || strings.Contains(name, "\x00") || strings.HasPrefix(name, "pg_"):
		return engine.Reworded(store.ErrURL, "oid_schema=%q cannot be the name of a schema", name)
	}
	s.schema = name
	return nil
}

// hosts returns the addresses in the URL.
func hosts(config *pgx.ConnConfig) string {
	all := []string{fmt.Sprintf("%s:%d", config.Host, config.Port)}
	for _, f := range config.Fallbacks {
		all = append(all, fmt.Sprintf("%s:%d", f.Host, f.Port))
	}
	return strings.Join(slices.Compact(all), ", ") // with and without TLS
}

// closeTime is how long Close waits for a server that does not answer. What is left then is
// the last notification, and the farewell on each connection.
const closeTime = time.Second

// Close ends the connections. Sequences of Find that are under way end
// with [store.ErrClosed].
func (s *Store) Close() error {
	if !s.db.life.End() {
		return nil
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.db.announcer.send()
		s.db.listener.close()
		if s.db.pool != nil {
			s.db.pool.Close()
		}
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
	return nil
}
