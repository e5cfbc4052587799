package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
)

// schema is what the page shows of a schema of OpenAPI.
type schema struct {
	Ref         string `json:"$ref"`
	Type        any    // a string, or a list that has null
	Format      string
	Description string
	Enum        []any
	Default     any
	Minimum     *float64
	Maximum     *float64
	MaxLength   *int
	AllOf       []schema
	Items       *schema
	Values      any `json:"additionalProperties"` // false, or the schema of the values
	Properties  map[string]schema
	Required    []string
	Kinds       []kind `json:"x-problem-types"` // of ErrorModel
}

// kind is a kind of error.
type kind struct {
	Type, About string
	Status      int
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                schema
}

type content map[string]struct{ Schema schema }

type operation struct {
	Summary, Description string
	Tags                 []string
	Parameters           []parameter
	RequestBody          *struct {
		Required bool
		Content  content
	}
	Responses map[string]struct {
		Description string
		Content     content
	}
}

// openAPI is a description of an API.
type openAPI struct {
	Tags       []struct{ Name, Description string }
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

// fetch returns the body of a GET request that must succeed.
func fetch(t *testing.T, url string) []byte {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, res.Status, err)
	}
	return body
}

// The reference of the API is what a running server describes.
func TestAPIPage(t *testing.T) {
	_, url, _ := startServe(t.Context(), t)
	var api openAPI
	if err := json.Unmarshal(fetch(t, url+"/openapi.json"), &api); err != nil {
		t.Fatal(err)
	}
	generated(t, "docs/reference/api.md", api.page())
}

const apiIntroduction = `# HTTP API

What ` + "`/openapi.json`" + ` of a running server describes, for readers. ` + "`/openapi-3.0.json`" + ` is the same
for older generators of clients. A server with tokens wants ` + "`Authorization: Bearer TOKEN`" + `.
Errors are objects of the type [ErrorModel](#errormodel), as ` + "`application/problem+json`" + `.

Every endpoint may answer 400 (the request is not well formed), 401 (no token, or a wrong one),
403 (the token may only read), 408 (the body came too slowly), 413 (too large), 421 (another
host name), 429 (wrong tokens; see Retry-After) and 503 (busy, or the store does not answer;
see Retry-After). Others are named with their endpoint. The field ` + "`type`" + ` of an error leads to
its kind in [the list of errors](#errors).

Answers have ` + "`Cache-Control: no-store`" + ` and no ETag: processes register and end all the time,
and what an id is traced to changes with them.
`

// everywhere are the statuses that the introduction names.
var everywhere = []string{"400", "401", "403", "408", "413", "421", "429", "503"}

func (api *openAPI) page() string {
	var b strings.Builder
	b.WriteString(apiIntroduction)
	for _, tag := range api.Tags {
		fmt.Fprintf(&b, "\n## Endpoints: %s\n\n%s\n", tag.Name, tag.Description)
		for _, p := range slices.Sorted(maps.Keys(api.Paths)) {
			for _, method := range slices.Sorted(maps.Keys(api.Paths[p])) {
				if o := api.Paths[p][method]; slices.Contains(o.Tags, tag.Name) {
					fmt.Fprintf(&b, "\n### %s %s\n\n%s. %s\n", strings.ToUpper(method), p, o.Summary, o.Description)
					o.write(&b)
				}
			}
		}
	}
	b.WriteString("\n## Objects\n\nOptional fields may be left out of a request, and are absent from an answer where nothing is known.\n")
	for _, name := range slices.Sorted(maps.Keys(api.Components.Schemas)) {
		s := api.Components.Schemas[name]
		fmt.Fprintf(&b, "\n### %s\n\n%s| field | type | |\n|---|---|---|\n", name, paragraph(s.Description))
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			f := s.Properties[field]
			optional := ""
			if !slices.Contains(s.Required, field) {
				optional = ", optional"
			}
			fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", field, f.kind(), optional, cell(f.Description))
		}
	}
	b.WriteString("\n## Errors\n\nThe headings are the ends of the values of `type`. Later versions may have more.\n")
	for _, k := range api.Components.Schemas["ErrorModel"].Kinds {
		fmt.Fprintf(&b, "\n### %s\n\nStatus %d. %s\n", k.Type[strings.LastIndexByte(k.Type, '#')+1:], k.Status, k.About)
	}
	return b.String()
}

func (o operation) write(b *strings.Builder) {
	if len(o.Parameters) > 0 {
		b.WriteString("\n| parameter | in | type | |\n|---|---|---|---|\n")
	}
	for _, p := range o.Parameters {
		note := cell(p.Description)
		if p.Schema.Default != nil {
			note += fmt.Sprintf(" Default: %v.", p.Schema.Default)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Name, p.In, p.Schema.kind(), strings.TrimSpace(note))
	}
	if o.RequestBody != nil {
		fmt.Fprintf(b, "\nBody: %s\n", o.RequestBody.Content.list())
	}
	var errors []string
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		switch {
		case status < "300":
			what := o.Responses[status].Content.list()
			if what == "" {
				what = "no body"
			}
			fmt.Fprintf(b, "\nAnswer %s: %s\n", status, what)
		case !slices.Contains(everywhere, status):
			errors = append(errors, status)
		}
	}
	if errors != nil {
		fmt.Fprintf(b, "\nErrors: %s\n", strings.Join(errors, ", "))
	}
}

// list returns the forms of a body.
func (c content) list() string {
	var all []string
	for _, form := range slices.Sorted(maps.Keys(c)) {
		s := c[form].Schema
		switch kind := s.kind(); {
		case s.Ref != "":
			all = append(all, fmt.Sprintf("%s as `%s`", kind, form))
		default:
			all = append(all, fmt.Sprintf("`%s`", form))
		}
	}
	return strings.Join(all, ", ")
}

// kind returns the type of a schema in words.
func (s schema) kind() string {
	if len(s.AllOf) > 0 {
		return s.AllOf[0].kind()
	}
	if s.Ref != "" {
		name := path.Base(s.Ref)
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}
	kind, orNull := s.Type, ""
	if several, ok := s.Type.([]any); ok {
		kind = several[0]
		if slices.Contains(several, any("null")) {
			orNull = " or null"
		}
	}
	switch {
	case kind == nil:
		return "any"
	case len(s.Enum) > 0:
		var names []string
		for _, name := range s.Enum {
			names = append(names, fmt.Sprintf("`%v`", name))
		}
		return strings.Join(names, ", ") + orNull
	case s.Format == "date-time":
		kind = "time"
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case kind == "object":
		if values, ok := s.Values.(map[string]any); ok {
			return fmt.Sprintf("object with values of type %v", values["type"])
		}
	}
	out := fmt.Sprint(kind)
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		out += fmt.Sprintf(", %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.MaxLength != nil:
		out += fmt.Sprintf(", %d characters at most", *s.MaxLength)
	}
	return out + orNull
}

// cell returns text for a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

// paragraph returns text as a paragraph, or nothing.
func paragraph(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n\n"
}
