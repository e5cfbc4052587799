package pgstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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

const (
	// pollEvery is how often Watch looks for new documents where the server does not
	// send notifications, and a tenth of how often it does where it sends them.
	pollEvery = 200 * time.Millisecond

	// retryFor is how long a call tries again after it lost its connection to the
	// server, for example because that failed over.
	retryFor = 30 * time.Second
)

// Limits that a URL may change by connect_timeout and pool_max_conns.
const (
	connectTimeout = 5 * time.Second // of one host
	maxConns       = 16
)

// Store is a schema of a PostgreSQL database. It implements [store.Store].
type Store struct {
	poll      time.Duration // pollEvery, tests have others
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
	s := &Store{poll: pollEvery}
	if err := s.open(ctx, uri); err != nil {
		return nil, fmt.Errorf("open PostgreSQL store: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

// readBuffer is how much is read from the server at once, in bytes: a page of documents
// comes with fewer calls than with the 8 KB of pgx.
const readBuffer = 64 << 10

func (s *Store) open(ctx context.Context, uri string) error {
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
	s.announcer.start(s)
	return err
}

// probe connects once and learns whether a pooler is in between. Such a one lends
// another connection to the server for each transaction, so there statements are not
// prepared and notifications do not arrive. It gives itself away by the id of the
// server's process.
func (s *Store) probe(ctx context.Context, config *pgxpool.Config) error {
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
func (s *Store) takeSchema(parameters map[string]string) error {
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
		if addr := fmt.Sprintf("%s:%d", f.Host, f.Port); addr != all[len(all)-1] { // with and without TLS
			all = append(all, addr)
		}
	}
	return strings.Join(all, ", ")
}

// closeTime is how long Close waits for a server that does not answer. What is left then is
// the last notification, and the farewell on each connection.
const closeTime = time.Second

// Close ends the connections. Sequences of Find and Watch that are under way end
// with [store.ErrClosed].
func (s *Store) Close() error {
	if !s.life.End() {
		return nil
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.announcer.close()
		s.listener.close()
		if s.pool != nil {
			s.pool.Close()
		}
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
	return nil
}
