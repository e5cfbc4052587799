package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	phonyLine = regexp.MustCompile(`(?m)^\.PHONY: (.*)$`)
	makeCall  = regexp.MustCompile("(?m)(?:[`\"]|run: |&& |- |^ *)make ([a-z][a-z-]+)")
)

// TestMakeTargets wants each "make TARGET" of the workflows and of the documents to be in
// the Makefile, and each one in the Makefile's help.
func TestMakeTargets(t *testing.T) {
	root := filepath.Join("..", "..")
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var targets []string
	for _, m := range phonyLine.FindAllStringSubmatch(read(filepath.Join(root, "Makefile")), -1) {
		targets = append(targets, strings.Fields(m[1])...)
	}
	files := []string{filepath.Join(root, "Makefile"), filepath.Join(root, ".ci", "run")}
	for _, pattern := range []string{".github/workflows/*.yml", "*.md", "docs/*.md", "docs/*/*.md", "release/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	calls := 0
	for _, path := range files {
		for _, m := range makeCall.FindAllStringSubmatch(read(path), -1) {
			if calls++; !slices.Contains(targets, m[1]) {
				t.Errorf("%s says %q, and the Makefile has no such target: mend one of them", strings.TrimPrefix(path, root), "make "+m[1])
			}
		}
	}
	if calls < 30 {
		t.Errorf("%d calls of make were found, want at least 30: the pattern of this test is wrong", calls)
	}
}
