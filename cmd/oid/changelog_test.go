package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The changelog has the form of Keep a Changelog: what is not released comes first, then
// each version with its date, and each heading is a link.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`^## \[(Unreleased|\d+\.\d+\.\d+)\](?: - \d{4}-\d\d-\d\d)?$`)
	var versions []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "## ") {
			continue
		}
		m := heading.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || (m[1] == "Unreleased") == strings.Contains(line, " - ") {
			t.Errorf("%q is neither [Unreleased] nor a version with its date", line)
			continue
		}
		versions = append(versions, m[1])
		if !regexp.MustCompile(`(?m)^\[` + regexp.QuoteMeta(m[1]) + `\]: https://\S+$`).Match(text) {
			t.Errorf("CHANGELOG.md has no link for [%s]", m[1])
		}
	}
	if len(versions) == 0 || versions[0] != "Unreleased" {
		t.Errorf("versions %q; want Unreleased first", versions)
	}
}

// Every command is in a script or a document, which are run, and in the changelog.
func TestEveryCommandIsNamed(t *testing.T) {
	var scripts strings.Builder
	files, err := filepath.Glob("testdata/*.txtar")
	documents, globErr := filepath.Glob("../../docs/*/*.md")
	files, err = append(files, documents...), errors.Join(err, globErr)
	for _, file := range files {
		text, readErr := os.ReadFile(file)
		err = errors.Join(err, readErr)
		scripts.Write(text)
	}
	changes, readErr := os.ReadFile("../../CHANGELOG.md")
	if err = errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	root, _ := newRoot(streams{})
	for _, c := range root.Commands() {
		if !c.Runnable() || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		if !strings.Contains(scripts.String(), "oid "+c.Name()) {
			t.Errorf("no script in testdata and no document has oid %s: write a script", c.Name())
		}
		if !strings.Contains(string(changes), "`"+c.Name()+"`") {
			t.Errorf("CHANGELOG.md does not name `%s`: say there what it does", c.Name())
		}
	}
}
