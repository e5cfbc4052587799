// Package pgstore is an engine of package store that keeps documents in a PostgreSQL
// database, which programs on several machines may share.
//
// Start with [Open], which returns a [store.Store]. Open takes a PostgreSQL URL with one
// additional parameter, oid_schema, which names the schema of the tables:
//
//	postgres://user:password@db1,db2/shop?target_session_attrs=read-write&oid_schema=oid
//
// # What survives
//
// A write that has returned is committed as the server's setting synchronous_commit says. By
// default it is then on the disk of the primary and, if the server has synchronous standbys, on
// their disks too.
//
// # Lost connections
//
// The connection of a call may be lost because the server restarts or because a standby
// becomes the primary. The call then connects to the host that accepts writes and tries again,
// for at most 30 seconds and only while its context is not done. If the answer to a commit was
// lost, the call finds out whether the commit succeeded. So inserts and swaps are done only
// once, and an insert is not refused as a duplicate of itself. Three cases remain uncertain:
//
//   - Delete and SwapMany: if a document that was to be deleted does not exist after the
//     connection was lost, nobody can tell whether this call or another one deleted it. The
//     error wraps [store.ErrNotFound] and says so.
//   - DeleteRange may have deleted documents that it does not count.
//   - Replace may store its document twice, and so overwrite a document that another
//     writer stored in between.
//
// Calls also try again after a deadlock or a serialization failure. These are rare, because calls
// that write many documents write them in the order of their keys.
//
// A connection to a read-only server is used for a second at most. So if one name leads to
// whichever server is the primary, calls soon use a new primary, even if the old one goes on
// answering.
//
// # Poolers
//
// Some poolers lend out a server connection for one transaction at a time, for example
// pgbouncer with pool_mode = transaction. Open detects such a pooler without any setting. The
// store then prepares its statements in each call, because a statement that was prepared on one
// server connection is missing on the others. Signals do not arrive, see [store.Signaler].
//
// # The tables
//
// Each collection is a table in the schema:
//
//	CREATE TABLE oid.events (
//		_id  bytea  PRIMARY KEY,
//		doc  bytea  NOT NULL,
//		call bigint NOT NULL)
//
// _id is the key, encoded so that the order of the bytes is that of the keys: a tag, then the
// number, the string or the 12 bytes of the ObjectId. The tag of ObjectIds is 30 in
// hexadecimal. A range of keys is therefore a scan of the primary key. A string that is an _id
// has at most 2,600 bytes. doc is the whole document as BSON, including its _id. call is a
// random number that identifies the call that inserted the document.
//
// The table has the name of the collection, with two exceptions. If the name begins with ^,
// the table's name has ^0 before it. If the name has more than 63 bytes, PostgreSQL's limit, the
// table's name is ^2, a digest of the name, and its beginning, and the table's comment is the
// whole name. The table ^1format holds the version of this format, 2; Open refuses a schema with
// another version.
//
// If a document is replaced many times a second, such as a record with a heartbeat, PostgreSQL
// works best if the next version fits on the same page. SwapMany therefore sets the fillfactor of
// a table to 50, unless ALTER TABLE has set one.
//
// # Tested with
//
// The tests run on PostgreSQL 15, and with pgbouncer 1.18 in front of it.
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

// DefaultSchema is the schema of the tables if the URL has no oid_schema.
const DefaultSchema = "oid"

// retryFor is the maximum time during which a call tries again after its first failure.
const retryFor = 30 * time.Second

// Defaults for connect_timeout and pool_max_conns, which the URL may change.
const (
	connectTimeout = 5 * time.Second // for one host
	maxConns       = 16
)

// Store is a store in a schema of a PostgreSQL database, opened by [Open]. It implements
// [store.Store] and [store.Signaler]. Any number of goroutines may share it.
type Store struct {
	engine.Base // all methods of [store.Store] except Close
	db          *database
}

// database is the [engine.Database] of a Store.
type database struct {
	schema        string
	hosts         string
	pool          *pgxpool.Pool
	direct        bool // whether there is no transaction pooler, see probe
	listener      listener
	announcer     announcer
	fillfactorSet sync.Map // collections for which setFillfactor was called
	life          engine.Lifetime
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

// Open connects to a PostgreSQL database. uri is a PostgreSQL URL such as
// postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS and may list several hosts.
// PARAMETERS are those of libpq, those of pgxpool such as pool_max_conns, and oid_schema, which
// names the schema of the tables. Without oid_schema, the tables are in [DefaultSchema]. Open
// creates nothing in the database: the first insert creates the schema and a table.
//
// If uri is invalid, the error wraps [store.ErrURL]. If the schema belongs to another program, it
// wraps [store.ErrForeign]. Open also fails if no server answers, or if the format of the schema
// has another version.
func Open(ctx context.Context, uri string) (*Store, error) {
	s := &database{}
	s.announcer.s = s
	opened := &Store{engine.NewBase(s, &s.life, manyKeys), s}
	if err := s.open(ctx, uri); err != nil {
		return nil, fmt.Errorf("open PostgreSQL store: %w", errors.Join(err, opened.Close()))
	}
	return opened, nil
}

// readBuffer is the size of the buffer for reading from the server, in bytes. With the 8 KB of
// pgx, reading a page of documents would take many more system calls.
const readBuffer = 64 << 10

func (s *database) open(ctx context.Context, uri string) error {
	if !strings.HasPrefix(uri, "postgres://") && !strings.HasPrefix(uri, "postgresql://") {
		return engine.Reworded(store.ErrURL, "the URL does not begin with postgres:// or postgresql://")
	}
	config, err := pgxpool.ParseConfig(uri)
	if err != nil {
		return engine.Reworded(store.ErrURL, "%v", err) // the text of pgx does not contain the password
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
	config.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		c.PgConn().CustomData()[openedAt] = time.Now()
		return nil
	}
	if err := s.probe(ctx, config); err != nil {
		return s.explain(ctx, err)
	}
	s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	s.listener.start(s, config.ConnConfig)
	return err
}

// probe connects once, checks the format, and finds out whether there is a transaction pooler
// between this program and the server. With such a pooler, statements cannot be kept prepared
// and notifications do not arrive, because each transaction may run on another server connection.
// probe recognizes it by the process id of the server, which differs from the id that the pooler
// told when the connection began.
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

// takeSchema removes oid_schema from the parameters and sets s.schema.
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

// hosts returns the hosts and ports of the URL, for error texts.
func hosts(config *pgx.ConnConfig) string {
	all := []string{fmt.Sprintf("%s:%d", config.Host, config.Port)}
	for _, f := range config.Fallbacks {
		all = append(all, fmt.Sprintf("%s:%d", f.Host, f.Port))
	}
	return strings.Join(slices.Compact(all), ", ") // pgx lists each host twice: with and without TLS
}

// closeTime is the maximum time that Close waits for a server that does not answer. Only the last
// signals and the orderly end of the connections are lost then.
const closeTime = time.Second

// Close closes the connections, and always returns nil. Loops over a result of Find end with
// [store.ErrClosed]. If the server does not answer, Close waits for at most one second.
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
