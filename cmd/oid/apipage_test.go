package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// openAPI is what the page shows of the description of an API.
type openAPI struct {
	Tags  []struct{ Name, Description string }
	Paths map[string]map[string]struct {
		Summary string
		Tags    []string
	}
	Components struct {
		Schemas map[string]struct {
			Kinds []struct { // of ErrorModel
				Type, About string
				Status      int
			} `json:"x-problem-types"`
		}
	}
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

// The page of the API lists what a running server describes, and its calls work.
func TestAPIPage(t *testing.T) {
	const page = "docs/reference/api.md"
	_, url, log := startServe(t.Context(), t)
	go func() {
		for log.Scan() { // so that the server can write
		}
	}()
	var api openAPI
	if err := json.Unmarshal(fetch(t, url+"/openapi.json"), &api); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, tag := range api.Tags {
		fmt.Fprintf(&b, "\n**%s**: %s\n\n", tag.Name, tag.Description)
		for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
			for _, method := range slices.Sorted(maps.Keys(api.Paths[path])) {
				if o := api.Paths[path][method]; slices.Contains(o.Tags, tag.Name) {
					fmt.Fprintf(&b, "- `%s %s`: %s\n", strings.ToUpper(method), path, strings.ToLower(o.Summary[:1])+o.Summary[1:])
				}
			}
		}
	}
	generatedPart(t, page, "endpoints", b.String()+"\n")
	b.Reset()
	for _, k := range api.Components.Schemas["ErrorModel"].Kinds {
		fmt.Fprintf(&b, "\n### %s\n\n%d. %s\n", k.Type[strings.LastIndexByte(k.Type, '#')+1:], k.Status, k.About)
	}
	generatedPart(t, page, "errors", b.String()+"\n")

	if _, err := exec.LookPath("curl"); err != nil {
		testenv.Missing(t, "curl is not installed")
	}
	script := testenv.DocBlock(t, "../../"+page, "sh", 0, "http://127.0.0.1:8024", url)
	if out, err := exec.CommandContext(t.Context(), "sh", "-euc", script).CombinedOutput(); err != nil {
		t.Errorf("the calls of %s: %v\n%s", page, err, out)
	}
}
