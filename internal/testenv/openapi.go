package testenv

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Exchange is a request to an API and its answer.
type Exchange struct {
	Method, URL    string
	RequestHeader  http.Header
	Request        []byte
	Status         int
	ResponseHeader http.Header
	Response       []byte
	BadRequest     bool // the request breaks the description on purpose
}

// CheckOpenAPI holds an OpenAPI description to its specification, and exchanges to
// the description. What is wrong fails the test.
func CheckOpenAPI(t testing.TB, description []byte, exchanges []Exchange) {
	t.Helper()
	program := built(t, "openapi")
	path := filepath.Join(t.TempDir(), "openapi.json")
	NoError(t, os.WriteFile(path, description, 0o644))
	var lines bytes.Buffer
	for _, e := range exchanges {
		NoError(t, json.NewEncoder(&lines).Encode(e))
	}
	check := exec.CommandContext(t.Context(), program, path)
	check.Stdin = &lines
	out, err := check.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// LintOpenAPI holds an OpenAPI description to the rules of Spectral and to those that
// Redocly recommends. Their errors fail the test.
func LintOpenAPI(t testing.TB, description []byte) {
	t.Helper()
	folder := t.TempDir()
	for name, data := range map[string][]byte{"openapi.json": description, "ruleset.json": []byte(`{"extends": ["spectral:oas"]}`)} {
		NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o644))
	}
	for _, lint := range [][]string{
		{filepath.Join(NodeModules(t, "@stoplight/spectral-cli", "6.16.3"), ".bin", "spectral"), "lint", "--ruleset", "ruleset.json", "openapi.json"},
		{filepath.Join(NodeModules(t, "@redocly/cli", "2.77.0"), ".bin", "redocly"), "lint", "openapi.json"},
	} {
		cmd := exec.CommandContext(t.Context(), lint[0], lint[1:]...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
		t.Logf("%s", strings.Join(cmd.Args, " "))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// generator returns the path of a program that makes a Go client of an OpenAPI 3.0
// description.
func generator() (string, error) {
	const version = "v2.8.2"
	folder, err := cached("oapi-codegen-"+version, func(part string) *exec.Cmd {
		install := exec.Command("go", "install", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@"+version)
		install.Env = append(os.Environ(), "GOBIN="+part)
		return install
	})
	return filepath.Join(folder, "oapi-codegen"), err
}

// GeneratedClient generates a client from an OpenAPI 3.0 description, builds the
// program in the folder generated with it, runs that with args, and returns what it
// writes.
func GeneratedClient(t testing.TB, description []byte, args ...string) string {
	t.Helper()
	program := built(t, "generator")
	source := Must(nested("generated"))(t)
	folder := t.TempDir()
	NoError(t, os.CopyFS(folder, os.DirFS(source)))
	NoError(t, os.WriteFile(filepath.Join(folder, "openapi.json"), description, 0o644))
	NoError(t, os.Mkdir(filepath.Join(folder, "api"), 0o755))
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GOWORK=off")
		return Run(t, cmd)
	}
	run(program, "-generate", "types,client", "-package", "api", "-o", "api/api.go", "openapi.json")
	run("go", "build", "-o", "client", ".")
	return run("./client", args...)
}
