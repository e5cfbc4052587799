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
	"github.com/oidkit/oid/store/internal/engine"
)

// Between two tries of a call a time passes that doubles from firstWait to
// lastWait. The first is short because a connection of the pool may have been cut
// long ago.
const (
	firstWait = 2 * time.Millisecond
	lastWait  = 500 * time.Millisecond
)

// do calls work with a connection, again and again while that fails for a reason
// that passes: a deadlock, a serialization failure, a connection that was lost. It
// gives up after retryFor. unclear is true if an earlier call of work may have
// been committed although its answer did not come. The error is explained.
func (s *database) do(ctx context.Context, work func(c *pgx.Conn, unclear bool) error) error {
	unclear := false
	var end time.Time
	for wait := (backoff.Backoff{First: firstWait, Max: lastWait}); ; {
		if err := s.life.Err(ctx); err != nil {
			return err
		}
		sent, err := s.try(ctx, unclear, work)
		reason := classify(err)
		if sent && err == nil || reason == lasting || ctx.Err() != nil {
			return s.explain(ctx, err)
		}
		unclear = unclear || sent && reason == lost
		if now := time.Now(); end.IsZero() {
			end = now.Add(retryFor)
		} else if now.After(end) {
			return s.explain(ctx, err)
		}
		_ = backoff.Sleep(ctx, wait.Next())
	}
}

// try calls work once; sent reports whether it came to that.
func (s *database) try(ctx context.Context, unclear bool, work func(*pgx.Conn, bool) error) (sent bool, err error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, &lostError{err}
	}
	defer c.Release()
	err = work(c.Conn(), unclear)
	if code(err) == readOnlyTransaction { // the server is not the primary any more
		_ = c.Conn().Close(ctx)
	}
	if err != nil && c.Conn().IsClosed() && code(err) == "" {
		err = &lostError{err}
	}
	return true, err
}

// lostError is the error of a connection that was lost.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// reason is why a call failed.
type reason int

const (
	lasting reason = iota // it would fail again
	undone                // it had no effect and may succeed when it is made again
	lost                  // as undone, but it may have had its effect
)

// Error codes of PostgreSQL that this package knows, see
// https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	uniqueViolation      = "23505"
	readOnlyTransaction  = "25006"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	privilege            = "42501"
	undefinedTable       = "42P01"
	diskFull             = "53100"
	tooManyConnections   = "53300"
	cannotConnectNow     = "57P03"
	undefinedDatabase    = "3D000"
	undefinedSchema      = "3F000"
	queryCanceled        = "57014"

	loginClass = "28" // what the codes of refused logins begin with
)

// classify returns why a call failed.
func classify(err error) reason {
	switch c := code(err); c {
	case "":
	case serializationFailure, deadlockDetected, readOnlyTransaction, tooManyConnections, cannotConnectNow:
		return undone
	default:
		// Connection exceptions, which poolers report too, and shutdowns.
		if class := c[:2]; class == "08" || class == "57" && c != queryCanceled {
			return lost
		}
		return lasting
	}
	if _, cut := errors.AsType[*lostError](err); cut {
		return lost
	}
	return lasting
}

// code returns PostgreSQL's error code, or "".
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && len(e.Code) == 5 {
		return e.Code
	}
	return ""
}

// isMissing reports whether err means that the collection has no table.
func isMissing(err error) bool { c := code(err); return c == undefinedTable || c == undefinedSchema }

// noneIfMissing returns no error for a collection that has no table: it is empty.
func noneIfMissing(err error) error {
	if isMissing(err) {
		return nil
	}
	return err
}

// explain says in err what to do where PostgreSQL's own text does not.
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
		return fmt.Errorf("%w: the server's disk is full; nothing of this was stored, make room and try again", err)
	case c == privilege:
		return fmt.Errorf("%w: the user needs the right to use and create tables in schema %q", err, s.schema)
	case c == undefinedDatabase:
		return fmt.Errorf("%w; create it, or name another in the URL", err)
	case strings.HasPrefix(c, loginClass):
		return fmt.Errorf("%w; check the user and the password in the URL", err)
	case c == readOnlyTransaction:
		return fmt.Errorf("%w: the server at %s is a standby or read-only; list all hosts in the URL and add target_session_attrs=read-write", err, s.hosts)
	case c == "" && (connect || cut):
		return engine.Unreachable("PostgreSQL", s.hosts, err)
	}
	return err
}
