package frameworks

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/humatest"
	"github.com/getkin/kin-openapi/openapi3gen"
	google "github.com/google/jsonschema-go/jsonschema"
	"github.com/graph-gophers/graphql-go"
	"github.com/invopop/jsonschema"
	"google.golang.org/protobuf/proto"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

var schemas = []row{
	{"graph-gophers/graphql-go", "github.com/graph-gophers/graphql-go", yes, tryGraphGophers},
	{"protobuf", "google.golang.org/protobuf", with, tryProtobuf},
	{"huma", "github.com/danielgtaylor/huma/v2", with, tryHuma},
	{"kin-openapi", "github.com/getkin/kin-openapi", with, tryKin},
	{"invopop/jsonschema", "github.com/invopop/jsonschema", with, tryInvopop},
	{"google/jsonschema-go", "github.com/google/jsonschema-go", with, tryGoogle},
}

type graphRoot struct{}

// Order answers with the id that it gets.
func (graphRoot) Order(in struct{ ID objectid.ID }) objectid.ID { return in.ID }

// Orders answers with the ids that it gets.
func (graphRoot) Orders(in struct{ IDs []objectid.ID }) []objectid.ID { return in.IDs }

// Parent answers with the id that it gets, or null.
func (graphRoot) Parent(in struct{ ID *objectid.Hex }) *objectid.Hex { return in.ID }

func tryGraphGophers(t *testing.T) {
	const declared = "scalar Oid type Query { order(id: ID!): ID! orders(ids: [Oid!]!): [Oid!]! parent(id: ID): ID }"
	schema := testenv.Must(graphql.ParseSchema(declared, &graphRoot{}))(t)
	for query, want := range map[string]string{
		`{order(id: "` + sample + `")}`:       `{"order":"` + sample + `"}`,
		`{orders(ids: ["` + sample + `"])}`:   `{"orders":["` + sample + `"]}`,
		`{parent(id: "` + sample + `")}`:      `{"parent":"` + sample + `"}`,
		`{parent}`:                            `{"parent":null}`,
		`query($v: ID!) {order(id: $v)}`:      `{"order":"` + sample + `"}`,
		`query($v: Oid!) {orders(ids: [$v])}`: `{"orders":["` + sample + `"]}`,
	} {
		answer := schema.Exec(t.Context(), query, "", map[string]any{"v": sample})
		if len(answer.Errors) > 0 || string(answer.Data) != want {
			t.Errorf("%s: %s %v, want %s", query, answer.Data, answer.Errors, want)
		}
	}
	if answer := schema.Exec(t.Context(), `{order(id: "tea")}`, "", nil); len(answer.Errors) == 0 {
		t.Errorf("tea: %s", answer.Data)
	}
	_, err := graphql.ParseSchema("type Query { order(id: Int!): ID! orders(ids: [ID!]!): [ID!]! parent(id: ID): ID }", &graphRoot{})
	wantFailure(t, "a schema with Int", err)
}

func tryProtobuf(t *testing.T) {
	message, got, err := protobuf(id)
	wantID(t, "bytes", err, got)
	b := testenv.Must(proto.Marshal(message))(t)
	if string(b) != "\x0a\x0c"+raw {
		t.Errorf("message: %q", b)
	}
	_, err = objectid.FromBytes([]byte("tea"))
	wantFailure(t, "three bytes", err)
}

type humaInput struct {
	ID    objectid.ID `path:"id"`
	After objectid.ID `query:"after"`
}

type humaOutput struct{ Body document }

// document is what schemas describe.
type document struct {
	ID    objectid.ID   `json:"id"`
	Items []objectid.ID `json:"items"`
}

func tryHuma(t *testing.T) {
	_, api := humatest.New(t)
	huma.Get(api, "/orders/{id}", func(_ context.Context, in *humaInput) (*humaOutput, error) {
		return &humaOutput{Body: document{ID: in.ID, Items: []objectid.ID{in.After}}}, nil
	})
	huma.Post(api, "/orders", func(_ context.Context, in *humaOutput) (*humaOutput, error) { return in, nil })
	answer := api.Get("/orders/" + sample + "?after=" + sample)
	if want := `"id":"` + sample + `","items":["` + sample + `"]`; !strings.Contains(answer.Body.String(), want) {
		t.Errorf("%s\nwant %s", answer.Body, want)
	}
	answer = api.Get("/orders/" + sample)
	if want := `"items":[null]`; !strings.Contains(answer.Body.String(), want) {
		t.Errorf("without after: %s\nwant %s", answer.Body, want)
	}
	if answer := api.Get("/orders/tea"); answer.Code != http.StatusUnprocessableEntity {
		t.Errorf("tea: %d %s", answer.Code, answer.Body)
	}
	answer = api.Post("/orders", map[string]any{"id": sample, "items": []string{sample}})
	if answer.Code != http.StatusOK {
		t.Errorf("post: %d %s", answer.Code, answer.Body)
	}
	schema := string(testenv.Must(json.Marshal(api.OpenAPI()))(t))
	if want := `{"id":{"type":"string"},"items":{"items":{"type":"string"},"type":["array","null"]}}`; !strings.Contains(schema, want) {
		t.Errorf("OpenAPI: %s\nwant %s", schema, want)
	}
	huma.Get(api, "/list", func(_ context.Context, _ *struct {
		Many []objectid.ID `query:"many"`
	},
	) (*struct{}, error) {
		return nil, nil
	})
	wantPanic(t, "a pointer in a query", func() {
		huma.Get(api, "/pointer", func(_ context.Context, _ *struct {
			After *objectid.ID `query:"after"`
		},
		) (*struct{}, error) {
			return nil, nil
		})
	})
	wantPanic(t, "a list in a query", func() { api.Get("/list?many=" + sample) })
}

// wantSchema compares a schema as JSON: where an id is described as want.
func wantSchema(t *testing.T, what string, schema any, err error, want string) {
	t.Helper()
	if b := testenv.Must(json.Marshal(schema))(t); err != nil || strings.Count(string(b), want) != 2 {
		t.Errorf("%s: %s, %v\nwant twice %s", what, b, err, want)
	}
}

func tryKin(t *testing.T) {
	schema, err := openapi3gen.NewSchemaRefForValue(&document{}, nil, kinOption())
	wantSchema(t, "customized", schema, err, `{"pattern":"^[0-9a-f]{24}$","type":"string"}`)
	schema, err = openapi3gen.NewSchemaRefForValue(&document{}, nil)
	wantSchema(t, "by default", schema, err, `{}`)
}

func tryInvopop(t *testing.T) {
	wantSchema(t, "mapped", invopopReflector().Reflect(&document{}), nil, `{"type":"string","pattern":"^[0-9a-f]{24}$"}`)
	if b := testenv.Must(json.Marshal(jsonschema.Reflect(&document{})))(t); !strings.Contains(string(b), `"type":"integer"`) {
		t.Errorf("by default: %s", b)
	}
}

func tryGoogle(t *testing.T) {
	schema, err := google.For[document](googleOptions())
	wantSchema(t, "mapped", schema, err, `{"type":"string","pattern":"^[0-9a-f]{24}$"}`)
	schema, err = google.For[document](nil)
	if b := testenv.Must(json.Marshal(schema))(t); err != nil || !strings.Contains(string(b), `"type":"integer"`) {
		t.Errorf("by default: %s, %v", b, err)
	}
}
