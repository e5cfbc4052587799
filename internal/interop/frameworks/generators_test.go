package frameworks

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

var generators = []row{
	{"gqlgen", "github.com/99designs/gqlgen", with, tryGqlgen},
	{"ent", "entgo.io/ent", with, tryEnt},
	{"sqlc", "github.com/sqlc-dev/sqlc", with, trySqlc},
	{"oapi-codegen", "github.com/oapi-codegen/oapi-codegen/v2", with, tryOapiCodegen},
	{"swag", "github.com/swaggo/swag", with, trySwag},
}

// program copies a folder of testdata into a module called shop, which has the dependencies
// of this module, and returns a function that runs a command there.
func program(t *testing.T, name string) func(command ...string) string {
	t.Helper()
	testenv.Long(t, "builds generators")
	dir := t.TempDir()
	testenv.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))))
	mod := string(testenv.Must(os.ReadFile("go.mod"))(t))
	root := testenv.Must(filepath.Abs("../../.."))(t)
	mod = strings.Replace(mod, "module github.com/oidkit/oid/internal/interop/frameworks", "module shop", 1)
	mod = strings.ReplaceAll(mod, "=> ../../..", "=> "+filepath.ToSlash(root))
	testenv.NoError(t, errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600),
		os.WriteFile(filepath.Join(dir, "go.sum"), testenv.Must(os.ReadFile("go.sum"))(t), 0o600),
	))
	return func(command ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = dir
		// sqlc has the parser of PostgreSQL in C, and for WebAssembly, which is built in
		// less time.
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
		return testenv.Run(t, cmd)
	}
}

func tryGqlgen(t *testing.T) {
	run := program(t, "gqlgen")
	run("go", "tool", "gqlgen", "generate")
	wantText(t, "answers", run("go", "run", "."), strings.Join([]string{
		`{"data":{"orders":[{"id":"` + sample + `","parent":null},{"id":"` + sample + `","parent":"` + sample + `"}]}}`,
		`{"data":{"orders":[{"id":"` + sample + `","parent":null}]}}`,
		`{"errors":[{"message":"objectid: invalid id: want 24 characters, not 3: \"tea\"","path":["orders","filter","shop"]}],"data":null}`,
		`{"errors":[{"message":"objectid: invalid id: want 24 characters, not 3: \"tea\"","path":["orders","filter","shop"]}],"data":null}`,
	}, "\n"))
}

func tryEnt(t *testing.T) {
	run := program(t, "ent")
	run("go", "tool", "ent", "generate", "./ent/schema")
	run("go", "build", "-o", "shop", ".")
	for name, s := range servers(t) {
		dsn := s.dsn
		if s.driver == "sqlite" {
			dsn += "?_pragma=foreign_keys(1)"
		}
		wantText(t, name, run("./shop", s.driver, dsn), sample+" "+sample+"\n1 2 1")
	}
}

func trySqlc(t *testing.T) {
	run := program(t, "sqlc")
	run("go", "tool", "sqlc", "generate")
	run("go", "build", "-o", "shop", ".")
	for name, s := range servers(t) {
		wantText(t, name, run("./shop", s.driver, s.dsn), sample+" "+sample+" 1")
	}
}

func tryOapiCodegen(t *testing.T) {
	run := program(t, "oapi")
	run("mkdir", "api")
	run("go", "tool", "oapi-codegen", "-config", "oapi.yaml", "openapi.yaml")
	wantText(t, "answers", run("go", "run", "."), strings.Join([]string{
		"2 " + sample, sample + " " + sample,
		`400 Invalid format for parameter id: error unmarshaling 'tea' text as *objectid.ID: objectid: invalid id: want 24 characters, not 3: "tea"`,
	}, "\n"))
}

// Without its file .swaggo, swag documents a list of numbers.
func trySwag(t *testing.T) {
	run := program(t, "swag")
	generate := func() string {
		run("go", "tool", "swag", "init", "--parseDependency", "--outputTypes", "json", "--quiet")
		return run("cat", "docs/swagger.json")
	}
	with := generate()
	for _, want := range []string{`"id":{"type":"string"}`, `"parent":{"type":"string"}`, `"items":{"type":"array","items":{"type":"string"}}`} {
		if !strings.Contains(compact(with), want) {
			t.Errorf("%s\nwant %s", with, want)
		}
	}
	run("rm", ".swaggo")
	if without := compact(generate()); !strings.Contains(without, "integer") {
		t.Errorf("without .swaggo: %s", without)
	}
}

func compact(s string) string { return strings.Join(strings.Fields(s), "") }
