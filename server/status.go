package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/door"
	"github.com/oidkit/oid/store"
)

// Errors about requests. Their texts are for clients.
var (
	errAcceptable = errors.New("this endpoint returns application/json, text/plain or application/octet-stream")
	errNoReport   = errors.New("report not found: the server keeps the last few, until it stops")
)

// internalText is for clients.
const internalText = "internal error; see the log of the server"

// requestError is an error in a request. Its text is for the client.
type requestError struct{ error }

func (e requestError) Unwrap() error { return e.error }

func requestf(format string, args ...any) error {
	return requestError{fmt.Errorf(format, args...)}
}

// status returns the HTTP status for an error; no other place does. The text of an
// error with status 500 is not for clients.
func status(err error) int {
	for _, c := range []struct {
		status int
		errors []error
	}{
		{http.StatusBadRequest, []error{door.ErrBadBody, door.ErrQuery}},
		{http.StatusUnauthorized, []error{door.ErrNoToken}},
		{http.StatusForbidden, []error{door.ErrOrigin, door.ErrProxied, door.ErrReadOnly}},
		{http.StatusNotFound, []error{store.ErrNotFound, errNoReport}},
		{http.StatusConflict, []error{registry.ErrCollision, registry.ErrEnded, registry.ErrKey, registry.ErrSelfManaged}},
		{http.StatusNotAcceptable, []error{errAcceptable}},
		{http.StatusRequestEntityTooLarge, []error{door.ErrTooLarge, door.ErrUnpacked, door.ErrLongBody, census.ErrLimit, census.ErrTooMany}},
		{http.StatusRequestTimeout, []error{door.ErrTooSlow, door.ErrSlowest, door.ErrSlowBody}},
		{http.StatusMisdirectedRequest, []error{door.ErrBase, door.ErrHost}},
		{http.StatusServiceUnavailable, []error{errUnavailable, errNoStore, errNoLocks, errLocksSilent, door.ErrBusy, door.ErrMemory, door.ErrStopping}},
		{http.StatusUnprocessableEntity, []error{
			inspect.ErrUnknown, objectid.ErrInvalid, gpid.ErrInvalid, lock.ErrInvalid, registry.ErrSample, registry.ErrCursor,
			source.ErrEmpty, source.ErrFormat, census.ErrTooFine,
		}},
	} {
		for _, known := range c.errors {
			if errors.Is(err, known) {
				return c.status
			}
		}
	}
	if _, guessed := errors.AsType[*door.WaitError](err); guessed {
		return http.StatusTooManyRequests
	}
	if _, bad := errors.AsType[requestError](err); bad {
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

// problem returns err as a response of the API, see RFC 9457. A text that is not for
// clients goes to the log.
func (s *Server) problem(ctx context.Context, err error) error {
	code := status(err)
	return problemWith(code, s.text(ctx, code, err))
}

// text returns the text of err for a client.
func (s *Server) text(ctx context.Context, code int, err error) string {
	if code == http.StatusInternalServerError {
		s.options.Log.ErrorContext(ctx, "request failed", "error", err, "request", door.RequestID(ctx))
		return internalText
	}
	if errors.Is(err, store.ErrNotFound) {
		return "no process with this GPID or member key is recorded; see the list of processes"
	}
	return err.Error()
}

func problemWith(code int, detail string) error {
	p := huma.NewError(code, detail)
	if code == http.StatusServiceUnavailable {
		return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {"5"}})
	}
	return p
}
