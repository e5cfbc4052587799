package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// The adapters of examples/verify show of each driver that is installed here what
// docs/drivers.md says of it.
func TestVerifyAdapters(t *testing.T) {
	const adapters, jar = "../../examples/verify/adapters/", "/usr/share/java/mongo-java-driver.jar"
	compiled := t.TempDir()
	for _, a := range []struct {
		name, needs, missing string
		command              []string
		modules              bool              // NODE_PATH
		broken               map[string]string // by flags; what is not here holds
		without              string            // flags that the adapter does not know
	}{
		{
			name: "pymongo", needs: "/usr/bin/python3 -c 'import bson'", missing: "python3-pymongo",
			command: []string{"/usr/bin/python3", adapters + "pymongo.py"},
			broken:  map[string]string{"--decode": "refuses-other-text"},
		},
		{
			name: "php", needs: "php -m | grep -qx mongodb", missing: "php-cli and php-mongodb",
			command: []string{"php", adapters + "mongodb.php"},
		},
		{
			name: "node", needs: "node --version", missing: "nodejs", modules: true,
			command: []string{"node", adapters + "node.js", "bson"}, without: "--fork",
		},
		{
			name: "java", needs: "javac -cp " + jar + " -d " + compiled + " " + adapters + "MongoDriver.java", missing: "default-jdk-headless and libmongodb-java",
			command: []string{"java", "-cp", compiled + ":" + jar, "MongoDriver"},
			broken:  map[string]string{"--ids 2000": "layout", "--decode": "reads-times"}, without: "--fork",
		},
		{
			name: "go", needs: "cd ../../examples/verify && go build -o " + compiled + " ./adapters/golang", missing: "golang",
			command: []string{filepath.Join(compiled, "golang"), "oid"}, without: "--fork",
		},
		{
			name: "mongo-driver", needs: "cd ../../examples/verify && go build -o " + compiled + "/driver ./adapters/golang", missing: "golang",
			command: []string{filepath.Join(compiled, "driver"), "mongo-driver"},
			broken:  map[string]string{"--decode=json": "refuses-other-text"}, without: "--fork",
		},
	} {
		t.Run(a.name, func(t *testing.T) {
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", a.needs).CombinedOutput(); err != nil {
				testenv.Missing(t, fmt.Sprintf("%v: %s; get it with \"apt-get install %s\"", err, out, a.missing))
			}
			if a.modules {
				t.Setenv("NODE_PATH", testenv.NodeModules(t, "bson", "7.3.4"))
			}
			tests := []string{"--ids 2000", "--ids 500 --fork", "--decode"}
			if strings.HasSuffix(a.command[0], "golang") || strings.HasSuffix(a.command[0], "driver") {
				tests = append(tests, "--decode=json")
			}
			for _, flags := range tests {
				if a.without != "" && strings.Contains(flags, a.without) {
					continue
				}
				want, code := strings.Fields(a.broken[flags]), exitDone
				if len(want) > 0 {
					code = exitFailed
				}
				if got := brokenNames(judged(t, code, flags, a.command)); !slices.Equal(got, want) {
					t.Errorf("oid verify %s: broken %v, want %v", flags, got, want)
				}
			}
		})
	}
}
