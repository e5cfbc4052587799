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

// The adapters show of each driver that is installed here what
// docs/drivers.md says of it.
func TestVerifyAdapters(t *testing.T) {
	testenv.Long(t, "takes seconds")
	const adapters, jar = "adapters/", "/usr/share/java/mongo-java-driver.jar"
	jars := testenv.Jars(t, adapters+"pom.xml") + "/*"
	compiled := t.TempDir()
	const fork, json = "--ids 500 --fork", "--decode=json"
	const sameSecond = "--ids 2000 --clock frozen"
	for _, a := range []struct {
		name, needs, missing string
		command              []string
		modules              bool              // NODE_PATH
		broken               map[string]string // by flags; what is not here holds
		without              []string          // flags that the adapter does not know
		notices              bool              // that it was resumed from a snapshot
		hook                 bool              // it can be told
	}{
		{
			name: "pymongo", needs: "/usr/bin/python3 -c 'import bson'", missing: "python3-pymongo",
			command: []string{"/usr/bin/python3", adapters + "pymongo.py"},
			broken:  map[string]string{"--decode": "refuses-other-text"}, without: []string{json}, hook: true,
		},
		{
			name: "pymongo 4", needs: "python3 --version", missing: "python3", without: []string{json}, hook: true,
			command: []string{"env", "PYTHONPATH=" + testenv.PythonPackage(t, "pymongo", "4.20.1"), "python3", adapters + "pymongo.py"},
		},
		{
			name: "php", needs: "php -m | grep -qx mongodb", missing: "php-cli and php-mongodb",
			command: []string{"php", adapters + "mongodb.php"}, without: []string{json},
		},
		{
			name: "node", needs: "node --version", missing: "nodejs", modules: true,
			command: []string{"node", adapters + "node.js", "bson"}, without: []string{fork, json}, hook: true,
		},
		{
			name: "java", needs: "javac -cp " + jar + " -d " + compiled + " " + adapters + "MongoDriver.java && java -version", missing: "default-jdk-headless and libmongodb-java",
			command: []string{"java", "-cp", compiled + ":" + jar, "MongoDriver"},
			broken:  map[string]string{"--ids 2000": "layout", "--decode": "reads-times"}, without: []string{fork, json},
		},
		{
			name: "java 5", needs: "javac -cp '" + jars + "' -d " + compiled + "/5 " + adapters + "MongoDriver.java", missing: "default-jdk-headless",
			command: []string{"java", "-cp", compiled + "/5:" + jars, "MongoDriver"}, without: []string{fork, json},
		},
		{
			// It draws its process value and its counter from the second of its start.
			name: "kotlin", needs: "javac -cp '" + jars + "' -d " + compiled + "/kotlin " + adapters + "Jvm.java", missing: "default-jdk-headless",
			command: []string{"java", "-cp", compiled + "/kotlin:" + jars, "Jvm", "kbson"},
			broken:  map[string]string{sameSecond: "own-value counter-start no-repeats-among-processes", "--decode": "refuses-other-text reads-times"},
			without: []string{"--ids 2000", fork, json},
		},
		{
			name: "scala", needs: "javac -cp '" + jars + "' -d " + compiled + "/scala " + adapters + "Jvm.java", missing: "default-jdk-headless",
			command: []string{"java", "-cp", compiled + "/scala:" + jars, "Jvm", "reactivemongo"},
			broken:  map[string]string{"--ids 2000": "own-value", "--decode": "refuses-other-text reads-times"}, without: []string{fork, json},
		},
		{
			name: "rust", needs: "true", command: []string{filepath.Join(testenv.Crate(t, adapters+"rust"), "adapter")},
			broken: map[string]string{fork: "own-value no-repeats-among-processes"}, without: []string{json},
		},
		{
			name: "go", needs: "go build -o " + compiled + " ./adapters/golang", missing: "golang",
			command: []string{filepath.Join(compiled, "golang"), "oid"}, without: []string{fork}, notices: true,
		},
		{
			name: "mongo-driver", needs: "go build -o " + compiled + "/driver ./adapters/golang", missing: "golang",
			command: []string{filepath.Join(compiled, "driver"), "mongo-driver"},
			broken:  map[string]string{"--decode=json": "refuses-other-text"}, without: []string{fork},
		},
	} {
		t.Run(a.name, func(t *testing.T) {
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", a.needs).CombinedOutput(); err != nil {
				testenv.Missing(t, fmt.Sprintf("%v: %s; get it with \"apt-get install %s\"", err, out, a.missing))
			}
			if a.modules {
				t.Setenv("NODE_PATH", testenv.NodeModules(t, "bson", "7.3.4"))
			}
			for _, flags := range []string{"--ids 2000", sameSecond, fork, "--decode", json} {
				if slices.Contains(a.without, flags) || flags == sameSecond && a.broken[flags] == "" {
					continue
				}
				if _, got, code := judged(t, flags, a.command); strings.Join(got, " ") != a.broken[flags] || code != min(len(got), 1) {
					t.Errorf("verify %s: broken %v, exit code %d, want %s", flags, got, code, a.broken[flags])
				}
			}
			if criuMissing() != "" {
				return
			}
			if _, got, _ := resumedBreaks(t, a.command); (got == "") != a.notices || got != "" && got != "own-value" {
				t.Errorf("verify --resume: broken %s, notices %v", got, a.notices)
			}
			if a.hook {
				if _, got, _ := resumedBreaks(t, append(a.command, "hook")); got != "" {
					t.Errorf("verify --resume, and it is told: broken %s", got)
				}
			}
		})
	}
}

// Programs that start from one snapshot of a program with bson 7.1 create the same ids;
// bson 7.3.4 starts anew in each.
func TestVerifyFindsASnapshot(t *testing.T) {
	for version, want := range map[string]string{"7.1.0": "own-value counter-start", "7.3.4": ""} {
		t.Run(version, func(t *testing.T) {
			blob := filepath.Join(t.TempDir(), "bson.blob")
			library := filepath.Join(testenv.NodeModules(t, "bson", version), "bson", "lib", "bson.cjs")
			build := exec.CommandContext(t.Context(), "node", "--snapshot-blob", blob, "--build-snapshot", "adapters/node-snapshot.js", library)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			_, got, code := judged(t, "--ids 2000", []string{"node", "--snapshot-blob", blob})
			// The ids themselves repeat where both copies began in one second.
			if names := strings.TrimSuffix(strings.Join(got, " "), " no-repeats-among-processes"); names != want || code != min(len(got), 1) {
				t.Errorf("broken %v, exit code %d, want %s", got, code, want)
			}
		})
	}
}
