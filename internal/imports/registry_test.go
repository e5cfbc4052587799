package imports

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// registryParts are the parts of package registry by the prefix of their files, each above
// those that it may use. Files without a prefix describe processes, for all of them.
// registry.go, which puts a Registry together, may use everything.
var registryParts = []string{"", "stored", "judge", "write", "keep"}

// Judging a process needs nothing of what records it, and what is stored needs neither.
func TestPartsOfRegistry(t *testing.T) {
	const folder = root + "registry/"
	files := token.NewFileSet()
	var parsed []*ast.File
	entries := testenv.Must(os.ReadDir(folder))(t)
	for _, e := range entries {
		name := e.Name()
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_other.go") {
			continue
		}
		f := testenv.Must(parser.ParseFile(files, folder+name, nil, 0))(t)
		parsed = append(parsed, f)
	}
	uses := map[*ast.Ident]types.Object{}
	conf := types.Config{Importer: importer.ForCompiler(files, "gc", exports(t, "registry"))}
	pkg := testenv.Must(conf.Check(module+"registry", files, parsed, &types.Info{Uses: uses}))(t)
	seen := map[string]bool{}
	for id, to := range uses {
		if to.Pkg() != pkg || to.Name() == "Registry" {
			continue
		}
		from, there := files.Position(id.Pos()), files.Position(to.Pos())
		i, j := part(from.Filename), part(there.Filename)
		seen[registryParts[max(i, 0)]] = true
		if i < j && filepath.Base(from.Filename) != "registry.go" {
			t.Errorf("%v uses %s of %v: the part %q of package registry is below %q", from, to.Name(), there, registryParts[i], registryParts[j])
		}
	}
	if len(seen) != len(registryParts) {
		t.Errorf("only the parts %q were found", slices.Sorted(maps.Keys(seen)))
	}
}

// part returns the index of the part of a file of package registry.
func part(file string) int {
	prefix, _, _ := strings.Cut(filepath.Base(file), "_")
	return max(0, slices.Index(registryParts, prefix)) // clock_linux.go has no part either
}

// exports returns what the compiler says of the packages that a package of the module imports.
func exports(t *testing.T, room string) importer.Lookup {
	t.Helper()
	out := testenv.Must(exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", module+room).Output())(t)
	where := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		where[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(where[path]) }
}
