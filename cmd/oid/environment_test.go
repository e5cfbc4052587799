package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var readsVariable = regexp.MustCompile(`(?:Getenv|LookupEnv)\("(\w+)"\)|"(OID_LOCK_\w+)"`)

// The page on the environment has every variable that the command reads or sets.
func TestEnvironmentPage(t *testing.T) {
	page := readDocuments(t)["docs/reference/environment.md"]
	n := 0
	for _, folder := range []string{"cmd", "census", "inspect", "internal/agent", "lock", "objectid", "gpid", "registry", "server", "store"} {
		err := filepath.WalkDir("../../"+folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range readsVariable.FindAllStringSubmatch(string(text), -1) {
				n++
				if name := m[1] + m[2]; !strings.Contains(page, "`"+name+"`") {
					t.Errorf("docs/reference/environment.md does not have %s, which %s uses", name, path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 15 {
		t.Errorf("%d variables were found in the code", n)
	}
}
