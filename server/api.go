package server

import (
	"cmp"
	"context"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

const description = "Makes MongoDB ObjectIds in bulk, tells what an id says and who made it, turns times into ranges of ids, " +
	"records processes, and takes the census of a dump. Errors are problem+json (RFC 9457)."

// addAPI adds the endpoints and their description, as /openapi.json in version
// 3.1 and as /openapi-3.0.json for generators that know no later one.
func (s *Server) addAPI() {
	schemas := huma.NewMapRegistry("#/components/schemas/", schemaName)
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "oid", Version: cmp.Or(s.options.Version, "devel"), Description: description,
				License: &huma.License{Name: "MIT"},
			},
			Components: &huma.Components{
				Schemas:         schemas,
				SecuritySchemes: map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer", Description: "Wanted if the server was started with a token."}},
			},
			Security: []map[string][]string{{}, {"token": {}}},
		},
		OpenAPIPath:   "/openapi",
		Formats:       huma.DefaultFormats,
		DefaultFormat: "application/json",
	}
	api := humago.New(s.mux, config)
	s.addIDs(api)
	s.addInspect(api)
	s.addRange(api)
	s.addProcesses(api)
	s.addCensus(api)
	s.mux.HandleFunc("/v1/", s.noEndpoint)
}

// noEndpoint answers where nothing is. The mux alone would say so in plain text.
func (s *Server) noEndpoint(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		try := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(try); pattern != "/v1/" {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		s.refuse(w, r, http.StatusNotFound, "there is no such endpoint; /openapi.json describes those there are")
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	s.refuse(w, r, http.StatusMethodNotAllowed, "this endpoint knows "+strings.Join(allowed, ", "))
}

// schemaName names a type in the description: those of package wire by their own
// name, others with their package's, which tells registry.Process from
// gpid.Process.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch pkg := path.Base(t.PkgPath()); pkg {
	case ".", "wire", "v2", "server":
		return name
	default:
		return strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
}

// anywhere are the statuses that every endpoint may answer with.
var anywhere = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusMisdirectedRequest, http.StatusServiceUnavailable}

// operation describes an endpoint, with the errors that are its own.
func operation(method, path, id, summary, description string, errors ...int) huma.Operation {
	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, Description: description,
		Errors: slices.Concat(anywhere, errors), DefaultStatus: http.StatusOK, RejectUnknownQueryParameters: true,
		MaxBodyBytes: -1, BodyReadTimeout: -1, // the body has been read, see readBody
	}
}

// answer is a response whose body is of type T.
type answer[T any] struct {
	Body T
}

// handle adds an endpoint: do answers a request, and its error becomes a problem.
func handle[In, Out any](s *Server, api huma.API, op huma.Operation, do func(context.Context, *In) (Out, error)) {
	huma.Register(api, op, func(ctx context.Context, in *In) (*answer[Out], error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &answer[Out]{out}, nil
	})
}
