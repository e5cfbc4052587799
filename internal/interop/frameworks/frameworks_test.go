// Package frameworks tests what docs/how-to/ids-in-your-framework.md says of libraries that
// oid does not need: it is a module of its own, so that they are in no other go.mod.
package frameworks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

const sample = "507f1f77bcf86cd799439011"

var id = objectid.MustParse(sample)

// row is a row of the page's table: a library, and what an id in it needs.
type row struct {
	name   string
	module string // empty for a package of Go
	answer string // yes or with
	try    func(t *testing.T)
}

const (
	yes  = "works"
	with = "works with"
)

func libraries() []row { return slices.Concat(web, encodings, flagsAndLogs, databases, schemas) }

// Each library does what the page says.
func TestFrameworks(t *testing.T) {
	for _, r := range libraries() {
		t.Run(r.name, r.try)
	}
}

// The same for programs that generate code. "make test" leaves this test out, since it takes
// minutes to build them.
func TestGenerators(t *testing.T) {
	for _, r := range generators {
		t.Run(r.name, r.try)
	}
}

// The table of the page has a row for each library, with the version that was tried and the
// answer, and no other.
func TestPage(t *testing.T) {
	page := string(testenv.Must(os.ReadFile("../../../docs/how-to/ids-in-your-framework.md"))(t))
	mod := string(testenv.Must(os.ReadFile("go.mod"))(t))
	want := make(map[string]bool)
	for _, r := range append(libraries(), generators...) {
		version := ""
		if r.module != "" {
			found := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(r.module) + ` (v\S+?)(?:-[0-9a-f]{12})?(?: |$)`).FindStringSubmatch(mod)
			if found == nil {
				t.Errorf("%s: go.mod has no %s", r.name, r.module)
				continue
			}
			version = " " + found[1]
		}
		want["| "+r.name+version+" | "+r.answer+" |"] = true
	}
	for _, line := range regexp.MustCompile(`(?m)^\| .* \| (?:works|works with|does not) \|`).FindAllString(page, -1) {
		if !want[line] {
			t.Errorf("no test has the row %q", line)
		}
		delete(want, line)
	}
	for line := range want {
		t.Errorf("the page does not have the row %q", line)
	}
}

// Every block of the page is in a program that is run here.
func TestBlocks(t *testing.T) {
	page := string(testenv.Must(os.ReadFile("../../../docs/how-to/ids-in-your-framework.md"))(t))
	var code strings.Builder
	files := testenv.Must(filepath.Glob("example*_test.go"))(t)
	testenv.NoError(t, filepath.WalkDir("testdata", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	for _, file := range files {
		code.WriteString("\n" + unindented(string(testenv.Must(os.ReadFile(file))(t))))
	}
	blocks := regexp.MustCompile("(?s)\n```\\w+\n(.*?\n)```\n").FindAllStringSubmatch(page, -1)
	for _, block := range blocks {
		if !strings.Contains(code.String(), "\n"+unindented(block[1])) {
			t.Errorf("no program has\n%s", block[1])
		}
	}
	if len(blocks) < 20 {
		t.Errorf("%d blocks in the page", len(blocks))
	}
}

// unindented returns text without the space at the beginning of its lines.
func unindented(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(text, "")
}

// wantText fails if got is not want.
func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != want {
		t.Errorf("%s: %s\nwant %s", what, got, want)
	}
}

func wantID(t *testing.T, what string, err error, got ...objectid.ID) {
	t.Helper()
	if err != nil || slices.ContainsFunc(got, func(x objectid.ID) bool { return x != id }) {
		t.Errorf("%s: %v, %v", what, got, err)
	}
}

func wantFailure(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error; the page says that it fails", what)
	}
}

func wantPanic(t *testing.T, what string, call func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s does not panic; the page says that it does", what)
		}
	}()
	call()
}
