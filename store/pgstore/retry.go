package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/store/internal/engine"
)

// The time between two attempts of a call doubles from firstWait to lastWait. The first wait is
// short because the failed connection may just be an old one of the pool.
const (
	firstWait = 2 * time.Millisecond
	lastWait  = 500 * time.Millisecond
)

// do calls work with a connection. If work fails for a temporary reason (a deadlock, a
// serialization failure, a lost connection), do calls it again, for at most retryFor. unclear
// is true if the answer to an earlier call of work was lost, so that call may have been
// committed. The error is one of explain.
func (s *database) do(ctx context.Context, work func(c *pgx.Conn, unclear bool) error) error {
	unclear := false
	var end time.Time
	for wait := (backoff.Backoff{First: firstWait, Max: lastWait}); ; {
		if err := s.life.Err(ctx); err != nil {
			return err
		}
		sent, err := s.try(ctx, unclear, work)
		kind := classify(err)
		if sent && err == nil || kind == permanent || ctx.Err() != nil {
			return s.explain(ctx, err)
		}
		unclear = unclear || sent && kind == ambiguous
		if now := time.Now(); end.IsZero() {
			end = now.Add(retryFor)
		} else if now.After(end) {
			return s.explain(ctx, err)
		}
		_ = backoff.Sleep(ctx, wait.Next())
	}
}

// try gets a connection and calls work once. sent is false if it got no connection.
func (s *database) try(ctx context.Context, unclear bool, work func(*pgx.Conn, bool) error) (sent bool, err error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, &lostError{err}
	}
	defer c.Release()
	err = work(c.Conn(), unclear)
	opened, _ := c.Conn().PgConn().CustomData()[openedAt].(time.Time)
	if code(err) == readOnlyTransaction || isReadOnly(c.Conn()) && time.Since(opened) > readOnlyTime {
		s.pool.Reset()
		s.listener.restart()
	}
	if err != nil && c.Conn().IsClosed() && code(err) == "" {
		err = &lostError{err}
	}
	return true, err
}

// readOnlyTime is how long a connection to a read-only server is used. Another server may be the
// primary, and a name may lead to that one by now.
const readOnlyTime = time.Second

// openedAt is the key of the time when a connection was opened.
const openedAt = "oid_opened_at"

// isReadOnly reports whether the server has told, by its last answer, that it is read-only.
func isReadOnly(c *pgx.Conn) bool {
	p := c.PgConn()
	return p.ParameterStatus("in_hot_standby") == "on" || p.ParameterStatus("default_transaction_read_only") == "on"
}

// lostError wraps the error of a lost connection.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// outcome says what an error means for another attempt.
type outcome int

const (
	permanent outcome = iota // another attempt would fail too
	retryable                // the attempt had no effect; another one may succeed
	ambiguous                // the attempt may have had its effect; another one may succeed
)

// Error codes of PostgreSQL to which this package reacts, see
// https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	uniqueViolation     = "23505"
	readOnlyTransaction = "25006"
	privilege           = "42501"
	undefinedTable      = "42P01"
	diskFull            = "53100"
	cannotConnectNow    = "57P03"
	undefinedDatabase   = "3D000"
	undefinedSchema     = "3F000"
	queryCanceled       = "57014"

	loginClass = "28" // prefix of the codes of refused logins
)

// classify returns what err means for another attempt. Of the errors that pass, a full disk and a
// canceled query are permanent here, so that the caller learns of them at once.
func classify(err error) outcome {
	c := code(err)
	_, cut := errors.AsType[*lostError](err)
	switch {
	case c == "" && cut:
		return ambiguous
	case c == "", c == diskFull, c == queryCanceled, !failure.Of(err).Retry():
		return permanent
	case strings.HasPrefix(c, "08"), strings.HasPrefix(c, "57") && c != cannotConnectNow: // connection exceptions, shutdowns
		return ambiguous
	}
	return retryable
}

// code returns the error code of PostgreSQL, or "" if err has none.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && len(e.Code) == 5 {
		return e.Code
	}
	return ""
}

// isMissing reports whether err means that the table or the schema does not exist.
func isMissing(err error) bool { c := code(err); return c == undefinedTable || c == undefinedSchema }

// nilIfMissing returns nil if err means that the table does not exist, and err otherwise.
func nilIfMissing(err error) error {
	if isMissing(err) {
		return nil
	}
	return err
}

// explain adds advice to an error of PostgreSQL. It returns the context's error if ctx is
// done, and [store.ErrClosed] if the store is closed.
func (s *database) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := s.life.Err(ctx); ended != nil {
		return ended
	}
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	_, cut := errors.AsType[*lostError](err)
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && connect {
		err = engine.Reworded(err, "PostgreSQL at %s: %s (SQLSTATE %s)", s.hosts, refused.Message, refused.Code)
	}
	switch c := code(err); {
	case c == diskFull:
		return fmt.Errorf("%w: the server's disk is full, and nothing was stored; free some space and try again", err)
	case c == privilege:
		return fmt.Errorf("%w: the user needs the privileges USAGE and CREATE on schema %q", err, s.schema)
	case c == undefinedDatabase:
		return fmt.Errorf("%w; create the database, or name another one in the URL", err)
	case strings.HasPrefix(c, loginClass):
		return fmt.Errorf("%w; check the user and the password in the URL", err)
	case c == readOnlyTransaction:
		return fmt.Errorf("%w: the server at %s is a standby or read-only; list all hosts in the URL and add target_session_attrs=read-write", err, s.hosts)
	case c == "" && (connect || cut):
		return engine.Unreachable("PostgreSQL", s.hosts, err)
	}
	return err
}
