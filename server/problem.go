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
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/internal/door"
	"github.com/oidkit/oid/store"
)

// Errors about requests. Their texts are for clients.
var (
	errAcceptable = errors.New("this endpoint returns application/json, text/plain or application/octet-stream")
	errNoLock     = errors.New("nobody holds this lock or waits for it")
	errRequest    = errors.New("a value of the request cannot be used")
)

// internalText is for clients.
const internalText = "internal error; see the log of the server"

// answered is an error whose text is for the client, with the status of another one.
type answered struct {
	error
	as error
}

func (e answered) Unwrap() []error { return []error{e.error, e.as} }

// requestf returns an error in a request.
func requestf(format string, args ...any) error {
	return answered{fmt.Errorf(format, args...), errRequest}
}

// noMember is the error for a member key that the registry does not know.
func noMember(key registry.MemberKey) error {
	return answered{fmt.Errorf("no member with the key %s is recorded; register again", key), store.ErrNotFound}
}

// problemType is a kind of error, see RFC 9457.
type problemType struct {
	name   string // the end of its URI
	status int
	about  string  // for the reference of the API
	errors []error // those that are answered with it
}

// problemTypes are all kinds of errors: no other place turns an error into a status.
// The first of a status is that of an answer without an error of Go, and the last of
// them that of errors in no list. The text of the error is for clients, except that of
// internal ones.
var problemTypes = []problemType{
	{"malformed", http.StatusBadRequest, "The request, its query or its JSON is not well formed.", []error{door.ErrBadBody, door.ErrQuery}},
	{"no-token", http.StatusUnauthorized, "The server requires its token, and the request has none or a wrong one.", []error{door.ErrNoToken}},
	{"forbidden", http.StatusForbidden, "The token is read-only, or the request comes from a page of another origin, or through a proxy to a server without a token.", []error{door.ErrOrigin, door.ErrProxied, door.ErrReadOnly}},
	{"not-found", http.StatusNotFound, "The endpoint, process, member or page does not exist; detail names it.", []error{store.ErrNotFound}},
	{"no-lock", http.StatusNotFound, "Nobody holds this lock or waits for it.", []error{errNoLock}},
	{"method-not-allowed", http.StatusMethodNotAllowed, "The endpoint has other methods; see the header Allow.", nil},
	{"not-acceptable", http.StatusNotAcceptable, "POST /v1/ids has none of the forms that Accept asks for. The other endpoints ignore Accept.", []error{errAcceptable}},
	{"too-slow", http.StatusRequestTimeout, "The body of the request came too slowly, or the upload was aborted because others were waiting.", []error{door.ErrTooSlow, door.ErrSlowest, door.ErrSlowBody}},
	{"collision", http.StatusConflict, "In the answer to many heartbeats: another live process is recorded with the same process value.", []error{registry.ErrCollision}},
	{"ended", http.StatusConflict, "The process has ended. Register again.", []error{registry.ErrEnded}},
	{"key-used", http.StatusConflict, "Another process was registered with the same Idempotency-Key.", []error{registry.ErrKey}},
	{"self-managed", http.StatusConflict, "The process sends its own heartbeats to the store.", []error{registry.ErrSelfManaged}},
	{"too-large", http.StatusRequestEntityTooLarge, "The body, what it unpacks to or the number of its ids is larger than this server accepts.", []error{door.ErrTooLarge, door.ErrUnpacked, door.ErrLongBody, census.ErrLimit, census.ErrTooMany}},
	{"media-type", http.StatusUnsupportedMediaType, "The body must be application/json.", nil},
	{"wrong-host", http.StatusMisdirectedRequest, "The Host header names another host.", []error{door.ErrBase, door.ErrHost}},
	{"invalid", http.StatusUnprocessableEntity, "A value of the request cannot be used; detail or errors say which and why.", []error{
		errRequest, inspect.ErrUnknown, objectid.ErrInvalid, gpid.ErrInvalid, lock.ErrInvalid, registry.ErrDescription, registry.ErrEvidence, registry.ErrCursor,
		store.ErrCollection, store.ErrKey, store.ErrDocument, census.ErrEmpty, census.ErrFormat, census.ErrTooFine,
	}},
	{"busy", http.StatusServiceUnavailable, "The server has too much to do, or is stopping; see Retry-After.", []error{door.ErrBusy, door.ErrMemory, door.ErrStopping}},
	{"no-answer", http.StatusServiceUnavailable, "The store, or the backend of the locks, does not answer; see Retry-After.", []error{errUnavailable, errLocksSilent}},
	{"not-configured", http.StatusServiceUnavailable, "The server was started without a store, or without locks.", []error{errNoStore, errNoLocks}},
	{"internal", http.StatusInternalServerError, "A fault of the server, which is in its log.", nil},
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

// typeOfStatus returns the kind of an answer with a status.
func typeOfStatus(status int) *problemType {
	i := slices.IndexFunc(problemTypes, func(t problemType) bool { return t.status == status })
	if i < 0 {
		i = len(problemTypes) - 1
	}
	return &problemTypes[i]
}

// isAnswer reports whether err is about the request, and not a failure of the store.
func isAnswer(err error) bool { return typeOf(err).status < http.StatusInternalServerError }

// statusOf returns the HTTP status for an error.
func statusOf(err error) int { return typeOf(err).status }

// text returns the text of err for a client. That of an internal one goes to the log.
func (s *Server) text(ctx context.Context, err error) string {
	switch {
	case statusOf(err) == http.StatusInternalServerError:
		s.options.Log.ErrorContext(ctx, "request failed", "error", err, "request", door.RequestID(ctx))
		return internalText
	case errors.Is(err, store.ErrKey):
		return "the request holds a value that cannot be a key in the store"
	}
	return excerpt(phrase.Plain(err.Error()), maxDetail)
}

// outcome returns the status of a page, and sets its text to that of err; a nil err has none.
func (s *Server) outcome(ctx context.Context, err error, text *string) (code int) {
	if err == nil {
		return http.StatusOK
	}
	*text = s.text(ctx, err)
	return statusOf(err)
}

// problem returns err as an answer of the API.
func (s *Server) problem(ctx context.Context, err error) error {
	p := typeOf(err).with(s.text(ctx, err))
	if p.Status == http.StatusServiceUnavailable {
		return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {retrySoon}})
	}
	return p
}

// retrySoon is the Retry-After of status 503, in seconds.
const retrySoon = "5"

// typeBase is where the kinds of errors are described.
const typeBase = "https://github.com/oidkit/oid/blob/main/docs/reference/api.md#"

// with returns the answer of this kind with a text.
func (t *problemType) with(detail string) *huma.ErrorModel {
	return &huma.ErrorModel{Type: typeBase + t.name, Title: http.StatusText(t.status), Status: t.status, Detail: detail}
}

// fail answers with err.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.answerProblem(w, r, typeOf(err).with(s.text(r.Context(), err)))
}

// refuse answers with an error that has only a status and a text.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	s.answerProblem(w, r, typeOfStatus(code).with(text))
}

// answerProblem answers with a page for browsers, otherwise with problem+json.
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

// Bounds of a problem: it names what is wrong in a request, and does not repeat it.
const (
	maxDetail   = 1000 // bytes
	maxValue    = 100  // bytes of a value, as JSON
	maxProblems = 20   // places in the request
)

// tidy is a huma.Transformer. It gives the problems that package huma makes their type,
// and bounds what they repeat of the request.
func tidy(_ huma.Context, _ string, v any) (any, error) {
	p, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p.Type = cmp.Or(p.Type, typeBase+typeOfStatus(p.Status).name)
	if more := len(p.Errors) - maxProblems; more > 0 {
		p.Errors = append(p.Errors[:maxProblems:maxProblems], &huma.ErrorDetail{Message: fmt.Sprintf("and %d more", more)})
	}
	for _, e := range p.Errors {
		e.Message, e.Location = plainNumber(excerpt(e.Message, maxDetail)), excerpt(e.Location, maxValue)
		if text, ok := e.Value.(string); ok {
			e.Value = excerpt(text, maxValue)
		} else if data, err := json.Marshal(e.Value); err != nil || len(data) > maxValue {
			e.Value = excerpt(string(data), maxValue)
		}
	}
	return p, nil
}

// excerpt returns the first n bytes of text, with a mark if there are more.
func excerpt(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// plainNumber writes the bound at the end of a message of package huma, such as
// "expected number <= 1e+07", without an exponent.
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

// describeProblems adds the kinds of errors to the description of the API, and the
// header of those that pass.
func describeProblems(api *huma.OpenAPI) {
	type kind struct {
		Type   string `json:"type"`
		Status int    `json:"status"`
		About  string `json:"about"`
	}
	kinds := each.Of(problemTypes, func(t problemType) kind { return kind{typeBase + t.name, t.status, t.about} })
	model := api.Components.Schemas.Map()["ErrorModel"]
	model.Extensions = map[string]any{"x-problem-types": kinds}
	of := model.Properties["type"]
	of.Default, of.Examples, of.Description = nil, []any{typeBase + "invalid"}, "The kind of the error, one of x-problem-types; later versions may have more. It is also the address of its description."
	later := &huma.Param{Description: "Seconds until the request may succeed.", Schema: &huma.Schema{Type: huma.TypeInteger}}
	for _, path := range api.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Delete} {
			if op != nil {
				op.Responses[strconv.Itoa(http.StatusServiceUnavailable)].Headers = map[string]*huma.Param{"Retry-After": later}
			}
		}
	}
}
