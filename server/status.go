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
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// Errors about requests. Their texts are for clients.
var (
	errTooLarge   = errors.New("the upload is larger than this server takes; the command \"oid census\" has no limit")
	errTooSlow    = errors.New("the upload came too slowly or took too long")
	errLongBody   = errors.New("the body of the request is larger than this server takes")
	errSlowBody   = errors.New("the body of the request came too slowly")
	errBadBody    = errors.New("the body of the request is not as long as was said, or not in chunks as they should be")
	errBusy       = errors.New("the server is busy; try again in a moment")
	errStopping   = errors.New("the server is being stopped; send the request again in a moment")
	errAcceptable = errors.New("there are application/json, text/plain and application/octet-stream")
	errNoReport   = errors.New("there is no such report: the server keeps the last few, until it is stopped")
)

// requestError is an error of whoever sent a request, whose text is for them.
type requestError struct{ error }

func (e requestError) Unwrap() error { return e.error }

func requestf(format string, args ...any) error {
	return requestError{fmt.Errorf(format, args...)}
}

// status is the only place where an error becomes an HTTP status. The text of an
// error with status 500 is not for clients.
func status(err error) int {
	for _, c := range []struct {
		status int
		errors []error
	}{
		{http.StatusBadRequest, []error{errBadBody}},
		{http.StatusNotFound, []error{store.ErrNotFound, errNoReport}},
		{http.StatusConflict, []error{registry.ErrCollision, registry.ErrEnded, registry.ErrSelfManaged}},
		{http.StatusNotAcceptable, []error{errAcceptable}},
		{http.StatusRequestEntityTooLarge, []error{errTooLarge, errLongBody, census.ErrLimit, census.ErrTooMany}},
		{http.StatusRequestTimeout, []error{errTooSlow, errSlowBody}},
		{http.StatusServiceUnavailable, []error{errUnavailable, errNoStore, errBusy, errStopping}},
		{http.StatusUnprocessableEntity, []error{
			inspect.ErrUnknown, objectid.ErrInvalid, gpid.ErrInvalid, registry.ErrSample,
			source.ErrEmpty, source.ErrFormat, census.ErrTooFine,
		}},
	} {
		for _, known := range c.errors {
			if errors.Is(err, known) {
				return c.status
			}
		}
	}
	if _, bad := errors.AsType[requestError](err); bad {
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

// problem is err as an answer of the API, see RFC 9457. What is not meant for
// clients goes to the log.
func (s *Server) problem(ctx context.Context, err error) error {
	code := status(err)
	return problemWith(code, s.text(ctx, code, err))
}

// text returns what a client may read of err.
func (s *Server) text(ctx context.Context, code int, err error) string {
	if code == http.StatusInternalServerError {
		s.options.Log.ErrorContext(ctx, "request failed", "error", err)
		return "something went wrong in the server; its log says what"
	}
	if errors.Is(err, store.ErrNotFound) {
		return "no process of this name is recorded; the list of processes shows those that are"
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
