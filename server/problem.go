package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/internal/door"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

// Errors about requests. Clients see their texts.
var (
	errAcceptable = errors.New("this endpoint returns application/json, text/plain or application/octet-stream")
	errNoLock     = errors.New("nobody holds this lock or waits for it")
)

// internalText is what clients see of an internal error.
const internalText = "internal error; see the log of the server"

// noMember is the error for a member key that the registry does not know.
func noMember(key registry.MemberKey) error {
	return pure.As(fmt.Errorf("there is no member with the key %s; register again", key), store.ErrNotFound)
}

// problemType is a kind of error, see RFC 9457.
type problemType struct {
	name   string // the end of its URI
	status int
	about  string  // for the reference of the API
	errors []error // the errors that are answered with this kind
}

// problemTypes are all kinds of errors. Only this table turns errors into statuses. A
// response that has a status but no Go error gets the first kind with that status. Errors
// that are in no list get the last kind, internal. Clients see the texts of all errors
// except internal ones.
var problemTypes = []problemType{
	{"malformed", http.StatusBadRequest, "The request, its query or its JSON is malformed.", []error{door.ErrBadBody, door.ErrQuery}},
	{"no-token", http.StatusUnauthorized, "The server requires a token, and the request has none or a wrong one.", []error{door.ErrNoToken}},
	{"forbidden", http.StatusForbidden, "The token is read-only, the request comes from a web page of another origin, or the server has no token and the request came through a proxy.", []error{door.ErrOrigin, door.ErrProxied, door.ErrReadOnly}},
	{"no-endpoint", http.StatusNotFound, "The path is not one of this server.", nil},
	{"not-found", http.StatusNotFound, "The process or member does not exist; detail says which.", []error{store.ErrNotFound}},
	{"no-lock", http.StatusNotFound, "Nobody holds this lock or waits for it.", []error{errNoLock}},
	{"method-not-allowed", http.StatusMethodNotAllowed, "The endpoint does not support the method; the header Allow lists those that it supports.", nil},
	{"not-acceptable", http.StatusNotAcceptable, "POST /v1/ids supports none of the media types in the header Accept. Other endpoints ignore Accept.", []error{errAcceptable}},
	{"too-slow", http.StatusRequestTimeout, "The body of the request arrived too slowly, or the upload was aborted because others were waiting.", []error{door.ErrTooSlow, door.ErrSlowest, door.ErrSlowBody}},
	{"collision", http.StatusConflict, "Only in the answer to many heartbeats: another live process is recorded with the same process value.", []error{registry.ErrCollision}},
	{"ended", http.StatusConflict, "The process has ended. Register again.", []error{registry.ErrEnded}},
	{"key-used", http.StatusConflict, "Another process was registered with the same Idempotency-Key.", []error{registry.ErrKey}},
	{"self-managed", http.StatusConflict, "The process sends its own heartbeats to the store.", []error{registry.ErrSelfManaged}},
	{"too-large", http.StatusRequestEntityTooLarge, "The body, its content after unpacking, or the number of its ids is larger than this server accepts.", []error{door.ErrTooLarge, door.ErrUnpacked, door.ErrLongBody, census.ErrLimit, census.ErrTooMany}},
	{"media-type", http.StatusUnsupportedMediaType, "The body must be application/json.", nil},
	{"wrong-host", http.StatusMisdirectedRequest, "The header Host names another host.", []error{door.ErrBase, door.ErrHost}},
	{"invalid", http.StatusUnprocessableEntity, "A value of the request is invalid; detail or errors say which and why.", []error{
		pure.ErrValue, inspect.ErrUnknown, objectid.ErrInvalid, gpid.ErrInvalid, lock.ErrInvalid, registry.ErrDescription, registry.ErrEvidence, registry.ErrCursor,
		store.ErrCollection, store.ErrKey, store.ErrDocument, census.ErrEmpty, census.ErrFormat, census.ErrTooFine,
	}},
	{"busy", http.StatusServiceUnavailable, "The server is overloaded or stopping; send the request again after Retry-After.", []error{door.ErrBusy, door.ErrMemory, door.ErrStopping}},
	{"no-answer", http.StatusServiceUnavailable, "The store, or the backend of the locks, does not answer; send the request again after Retry-After.", []error{errUnavailable, errLocksSilent}},
	{"not-configured", http.StatusServiceUnavailable, "The server was started without a store, or without locks.", []error{errNoStore, errNoLocks}},
	{"internal", http.StatusInternalServerError, "A fault of the server. Its log has the details.", nil},
}

// typeOf returns the kind of an error.
func typeOf(err error) *problemType {
	for i := range problemTypes {
		if slices.ContainsFunc(problemTypes[i].errors, func(e error) bool { return errors.Is(err, e) }) {
			return &problemTypes[i]
		}
	}
	return &problemTypes[len(problemTypes)-1]
}

// typeOfStatus returns the first kind of errors with a status.
func typeOfStatus(status int) *problemType {
	i := slices.IndexFunc(problemTypes, func(t problemType) bool { return t.status == status })
	if i < 0 {
		i = len(problemTypes) - 1
	}
	return &problemTypes[i]
}

// isAnswer reports whether err is about the request, rather than a failure of the server
// or of the store.
func isAnswer(err error) bool { return typeOf(err).status < http.StatusInternalServerError }

// statusOf returns the HTTP status for an error, which may be nil.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return typeOf(err).status
}

// text returns what a client sees of err. An internal error goes to the log instead.
func (s *Server) text(ctx context.Context, err error) string {
	switch {
	case statusOf(err) == http.StatusInternalServerError:
		s.options.Log.ErrorContext(ctx, "request failed", "error", err, "request", door.RequestID(ctx))
		return internalText
	case errors.Is(err, store.ErrKey):
		return "the request has a value that cannot be a key in the store"
	}
	return page.ErrorText(err)
}

// outcome returns the status of a page on which err happened. If err is not nil, it sets
// text to what the client sees of err.
func (s *Server) outcome(ctx context.Context, err error, text *string) (code int) {
	if err != nil {
		*text = s.text(ctx, err)
	}
	return statusOf(err)
}

// problem returns the answer of the API to a request that failed with err.
func (s *Server) problem(ctx context.Context, err error) error {
	p := typeOf(err).with(s.text(ctx, err))
	if p.Status == http.StatusServiceUnavailable {
		return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {retrySoon}})
	}
	return p
}

// retrySoon is the Retry-After of status 503, in seconds.
const retrySoon = "5"

// with returns an answer of this kind.
func (t *problemType) with(detail string) *huma.ErrorModel {
	return &huma.ErrorModel{Type: wire.ProblemBase + t.name, Title: http.StatusText(t.status), Status: t.status, Detail: detail}
}

// fail answers with err.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.answerProblem(w, r, typeOf(err).with(s.text(r.Context(), err)))
}

// refuse answers with a status and a text.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	s.answerProblem(w, r, typeOfStatus(code).with(text))
}

// answerProblem answers browsers with a page, and programs with problem+json.
func (s *Server) answerProblem(w http.ResponseWriter, r *http.Request, p *huma.ErrorModel) {
	if p.Status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", retrySoon)
	}
	if s.wantsPage(r) {
		s.send(w, p.Status, s.site.Error(r.URL.Path, p.Status, p.Detail, s.door.InSession(r)))
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	// The client may have disconnected.
	_ = huma.DefaultJSONFormat.Marshal(w, p)
}

// Bounds of a problem, which should not repeat all of a large request.
const (
	maxDetail   = 1000 // bytes of a message
	maxValue    = 100  // bytes of a value, as JSON
	maxProblems = 20   // invalid values that are listed
)

// tidy is a huma.Transformer. It sets the type of the problems that package huma makes, and
// applies the bounds.
func tidy(_ huma.Context, _ string, v any) (any, error) {
	p, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p.Type = cmp.Or(p.Type, wire.ProblemBase+typeOfStatus(p.Status).name)
	if more := len(p.Errors) - maxProblems; more > 0 {
		p.Errors = append(p.Errors[:maxProblems:maxProblems], &huma.ErrorDetail{Message: fmt.Sprintf("and %d more", more)})
	}
	for _, e := range p.Errors {
		e.Message, e.Location = plainNumber(phrase.Excerpt(e.Message, maxDetail)), phrase.Excerpt(e.Location, maxValue)
		if text, ok := e.Value.(string); ok {
			e.Value = phrase.Excerpt(text, maxValue)
		} else if data, err := json.Marshal(e.Value); err != nil || len(data) > maxValue {
			e.Value = phrase.Excerpt(string(data), maxValue)
		}
	}
	return p, nil
}

// plainNumber returns a message of package huma without an exponent in the number at its
// end, as in "expected number <= 1e+07".
func plainNumber(message string) string {
	if !strings.HasPrefix(message, "expected number") {
		return message
	}
	i := strings.LastIndexByte(message, ' ') + 1
	n, err := strconv.ParseFloat(message[i:], 64)
	if err != nil {
		return message
	}
	return message[:i] + strconv.FormatFloat(n, 'f', -1, 64)
}

// describeProblems adds the kinds of errors to the API's description, and the header
// Retry-After.
func describeProblems(api *huma.OpenAPI) {
	type kind struct {
		Type   string `json:"type"`
		Status int    `json:"status"`
		About  string `json:"about"`
	}
	kinds := each.Of(problemTypes, func(t problemType) kind { return kind{wire.ProblemBase + t.name, t.status, t.about} })
	model := api.Components.Schemas.Map()["ErrorModel"]
	model.Extensions = map[string]any{"x-problem-types": kinds}
	of := model.Properties["type"]
	of.Default, of.Examples, of.Description = nil, []any{wire.ProblemBase + "invalid"}, "The kind of the error: one of x-problem-types, or one that a later version adds. It is also the URL at which the kind is described."
	later := &huma.Param{Description: "How many seconds to wait before the request is sent again.", Schema: &huma.Schema{Type: huma.TypeInteger}}
	for _, path := range api.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Delete} {
			if op != nil {
				op.Responses[strconv.Itoa(http.StatusServiceUnavailable)].Headers = map[string]*huma.Param{"Retry-After": later}
			}
		}
	}
}
