package testenv

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each test that skips itself under the race detector, or does less, runs in the part of
// "make test" that is without it.
func TestWithoutRaceRuns(t *testing.T) {
	const root = "../.."
	Program(t, "make", "make")
	line, err := exec.Command("make", "-C", root, "-n", "test-plain-main").Output()
	command := regexp.MustCompile(`-run '(\S+)' (\./.*)`).FindSubmatch(line)
	if err != nil || command == nil {
		t.Fatalf("make -n test-plain-main: %v, %s", err, line)
	}
	tests, packages := regexp.MustCompile(string(command[1])), strings.Fields(string(command[2]))
	function := regexp.MustCompile(`(?m)^func (?:\(.*?\) )?(\w+)|ithoutRace\(t\)|testenv\.Seeds\(`)
	seen := 0
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		dir, _ := filepath.Rel(root, filepath.Dir(path))
		name := ""
		for _, m := range function.FindAllSubmatch(text, -1) {
			if m[1] != nil {
				name = string(m[1])
				continue
			}
			seen++
			of := "./" + filepath.ToSlash(dir) + "/"
			if strings.HasPrefix(of, "./objectid/") { // another module
				of = "github.com/oidkit/oid/" + of[2:]
			}
			if !strings.HasPrefix(name, "Test") || !tests.MatchString(name) || !slices.Contains(packages, of) {
				t.Errorf("%s of %s runs nowhere: the call is in no test", name, dir)
			}
		}
		return err
	})
	if err != nil || seen < 40 {
		t.Errorf("%d calls, %v", seen, err)
	}
}
