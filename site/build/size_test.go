package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// The programs stay as small as they are published. A phone loads 1.5 MB at 1.6 Mbit/s in 7.5
// seconds.
func TestSizes(t *testing.T) {
	files := built(t)
	for name, most := range map[string]int{"oid.wasm.gz": 1_500_000, "census.wasm.gz": 2_300_000} {
		if size := len(files[name]); size == 0 || size > most {
			t.Errorf("%s has %d bytes, want at most %d: TestPrograms names packages that are large", name, size, most)
		} else {
			t.Logf("%s has %d bytes of %d", name, size, most)
		}
	}
}

// The programs have none of the packages that are large, or that a browser cannot use.
func TestPrograms(t *testing.T) {
	for name, pkg := range programs {
		list := exec.Command("go", "list", "-deps", pkg)
		list.Dir, list.Env = "../..", append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		packages := strings.Fields(string(testenv.Must(list.Output())(t)))
		for _, part := range []string{
			"net", "net/http", "time/tzdata", "go.mongodb.org/mongo-driver", "github.com/oidkit/oid/registry",
			"github.com/oidkit/oid/lock", "github.com/oidkit/oid/store", "github.com/oidkit/oid/server", "github.com/oidkit/oid/cmd",
		} {
			if i := slices.IndexFunc(packages, func(p string) bool {
				return p == part || part != "net" && strings.HasPrefix(p, part+"/") && p != "github.com/oidkit/oid/server/wire"
			}); i >= 0 {
				t.Errorf("%s has the package %s", name, packages[i])
			}
		}
		if !slices.Contains(packages, "github.com/oidkit/oid/internal/page") {
			t.Errorf("%s has only %d packages", name, len(packages))
		}
	}
}
