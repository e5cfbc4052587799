package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/oidkit/oid/internal/pattern"
)

const apiDescription = "Creates MongoDB ObjectIds in bulk, shows when and by which process an id was created, turns time ranges into ranges of ids, " +
	"records processes, and analyses all ids of a dump. In requests, an optional field that is null counts as absent. Errors are problem+json (RFC 9457)."

// descriptionPath is the path of the API's description, without its extension.
const descriptionPath = "/openapi"

// Tags group the endpoints in the API's description.
const (
	tagIDs       = "ids"
	tagProcesses = "processes"
	tagCensus    = "census"
	tagLocks     = "locks"
)

// addAPI adds the endpoints and the API's description. /openapi.json is in version 3.1,
// and /openapi-3.0.json is for generators that do not support that version.
func (s *Server) addAPI(rows []route) {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "oid", Version: cmp.Or(s.options.Version, "devel"), Description: apiDescription,
				License: &huma.License{Name: "MIT", URL: "https://opensource.org/license/mit"},
				Contact: &huma.Contact{Name: "oid", URL: "https://github.com/oidkit/oid"},
			},
			Servers: []*huma.Server{{URL: s.door.Base() + "/", Description: "The server that sent this description."}},
			Tags: []*huma.Tag{
				{Name: tagIDs, Description: "Create ids, inspect them, and turn time ranges into ranges of ids."},
				{Name: tagProcesses, Description: "Register processes, send heartbeats, and list processes."},
				{Name: tagCensus, Description: "Analyse all ids of a dump."},
				{Name: tagLocks, Description: "Show locks and their holders."},
			},
			Components: &huma.Components{
				Schemas:         schemas,
				SecuritySchemes: map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer", Description: "Required if the server was started with a token."}},
			},
			Security: []map[string][]string{{}, {"token": {}}},
		},
		OpenAPIPath:   descriptionPath,
		Formats:       formats,
		Transformers:  []huma.Transformer{tidy},
		DefaultFormat: "application/json",
	}
	api := humago.New(gate{s}, config)
	for _, row := range rows {
		if row.endpoint != nil {
			row.endpoint(s, api, row)
		}
	}
	describeProblems(api.OpenAPI())
	wrapReferences(schemas)
}

// wrapReferences moves each reference that has a description into an allOf, because a
// reference of version 3.0 has no other fields. It also removes the descriptions of
// patterns, which OpenAPI does not have. Package huma has already made its error messages
// with them.
func wrapReferences(schemas huma.Registry) {
	for _, schema := range schemas.Map() {
		for _, p := range schema.Properties {
			if p.PatternDescription = ""; p.Items != nil {
				p.Items.PatternDescription = ""
			}
			if p.Ref != "" && p.Description != "" {
				p.AllOf, p.Ref = []*huma.Schema{{Ref: p.Ref}}, ""
			}
		}
	}
}

// noEndpoint answers requests that match no endpoint with a problem, instead of the plain
// text of the mux.
func (s *Server) noEndpoint(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		try := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(try); s.rows[pattern].endpoint != nil {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		s.refuse(w, r, http.StatusNotFound, "no such endpoint; /openapi.json lists all endpoints")
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	s.refuse(w, r, http.StatusMethodNotAllowed, "this endpoint supports "+strings.Join(allowed, ", "))
}

// anywhere lists the error statuses that every endpoint has.
var anywhere = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusMisdirectedRequest, http.StatusServiceUnavailable}

// operation describes the endpoint of a route. statuses are its error statuses other than
// those in anywhere.
func operation(at route, tag, id, summary, description string, statuses ...int) huma.Operation {
	return huma.Operation{
		Method: at.method, Path: at.path, Tags: []string{tag}, OperationID: id, Summary: summary, Description: description,
		Errors: slices.Concat(anywhere, statuses), DefaultStatus: http.StatusOK, RejectUnknownQueryParameters: true,
		MaxBodyBytes: -1, BodyReadTimeout: -1, // the body has been read, see readBody
	}
}

// answer is a response whose body is of type T.
type answer[T any] struct {
	CacheControl string `header:"Cache-Control" doc:"Always no-store: the answer may change at any moment, when processes register or end."`
	Body         T
}

// endpoint adds an endpoint of the API for a route.
type endpoint func(s *Server, api huma.API, at route)

// describe returns an endpoint with its description, see operation. do answers requests.
func describe[In, Out any](tag, id, summary, description string, do func(*Server, context.Context, *In) (Out, error), statuses ...int) endpoint {
	return func(s *Server, api huma.API, at route) {
		handle(s, api, operation(at, tag, id, summary, description, statuses...), func(ctx context.Context, in *In) (Out, error) { return do(s, ctx, in) })
	}
}

// handle adds an endpoint. do answers requests; its error becomes a problem.
func handle[In, Out any](s *Server, api huma.API, op huma.Operation, do func(context.Context, *In) (Out, error)) {
	huma.Register(api, op, func(ctx context.Context, in *In) (*answer[Out], error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &answer[Out]{"no-store", out}, nil
	})
}

// formats are the body formats: JSON. plainError makes the errors plain.
var formats = func() map[string]huma.Format {
	f := huma.DefaultJSONFormat
	f.Unmarshal = func(data []byte, v any) error {
		err := json.Unmarshal(data, v)
		if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
			err = json.Unmarshal(plainIntegers(data), v)
		}
		return plainError(err)
	}
	return map[string]huma.Format{"application/json": f, "json": f}
}()

// stringOrNumber matches the strings and the numbers in JSON.
var stringOrNumber = pattern.Of(`"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*`)

// plainIntegers returns JSON in which an integer that was written with an exponent or with a
// fraction of zeros has only digits: 10000 in place of 1e4 and of 10000.0. Everything else is
// as in data. Beyond 2^53 such a number is rounded as a number in JavaScript is.
func plainIntegers(data []byte) []byte {
	return stringOrNumber.Get().ReplaceAllFunc(data, func(token []byte) []byte {
		f, err := strconv.ParseFloat(string(token), 64) // an error for a string
		if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<63 && bytes.ContainsAny(token, ".eE") {
			return strconv.AppendFloat(nil, f, 'f', -1, 64)
		}
		return token
	})
}

// plainError returns an error of encoding/json without the names of Go types.
func plainError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		place := wrong.Field
		if place != "" {
			place += ": "
		}
		return fmt.Errorf("%sexpected a smaller number, not %s", place, wrong.Value) // types are compared with the schema before
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not valid JSON at byte %d: %w", wrong.Offset, wrong)
	}
	if err != nil {
		_, text, found := strings.Cut(err.Error(), ": ") // the name of the package
		if found && !strings.Contains(text, "Go ") {
			return errors.New(text)
		}
	}
	return err
}
