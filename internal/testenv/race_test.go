package testenv

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each test that skips itself under the race detector runs in the part of "make test"
// that is without it.
func TestWithoutRaceRuns(t *testing.T) {
	const root = "../.."
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`(?m)^WITHOUT_RACE = (.*)$`).FindSubmatch(makefile)
	lines := regexp.MustCompile(`(?m)^\tOID_REQUIRE_ALL=1 go test -vet=off -p 1 -timeout \w+ (-run \S+ )?(\./.*)$`).FindAllSubmatch(makefile, -1)
	if listed == nil || len(lines) != 2 {
		t.Fatalf("%d lines of the Makefile run tests without the race detector", len(lines))
	}
	names := strings.Split(string(listed[1]), "|")
	runs := func(dir, name string) bool {
		return slices.ContainsFunc(lines, func(line [][]byte) bool {
			return (len(line[1]) == 0 || slices.Contains(names, name)) && slices.ContainsFunc(strings.Fields(string(line[2])), func(pattern string) bool {
				above, all := strings.CutSuffix(pattern, "/...")
				return above == dir || all && strings.HasPrefix(dir, above+"/")
			})
		})
	}
	function := regexp.MustCompile(`(?m)^func (\w+)\(|testenv\.WithoutRace\(t\)`)
	seen := 0
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		name := ""
		for _, m := range function.FindAllSubmatch(text, -1) {
			if m[1] != nil {
				name = string(m[1])
				continue
			}
			seen++
			dir, _ := filepath.Rel(root, filepath.Dir(path))
			if dir = "./" + filepath.ToSlash(dir); !runs(dir, name) {
				t.Errorf("%s of %s runs nowhere: name it and its package in the Makefile", name, dir)
			}
		}
		return err
	})
	if err != nil || seen < 20 {
		t.Errorf("%d tests that skip themselves, %v", seen, err)
	}
}
