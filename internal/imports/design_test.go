package imports

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

const root = "../../"

// readPage returns a page of the folder docs.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text := testenv.Must(os.ReadFile(root + "docs/" + name))(t)
	return string(text)
}

// drawn returns the packages of the page's drawing from top to bottom.
func drawn(t *testing.T, page string) (packages []string) {
	t.Helper()
	_, rest, found := strings.Cut(page, "```text\n")
	drawing, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("docs/design.md has no drawing")
	}
	for line := range strings.Lines(drawing) {
		if fields := strings.Fields(line); len(fields) > 0 {
			packages = append(packages, fields[0])
		}
	}
	return packages
}

// The drawing has the packages of the rules, each above all that it may import.
func TestDesignDrawsTheRules(t *testing.T) {
	packages := drawn(t, readPage(t, "design.md"))
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		i := slices.Index(packages, name)
		if i < 0 {
			t.Errorf("docs/design.md does not draw %s: draw it under \"The packages\", above all that it imports", name)
		}
		for _, to := range allowed[name] {
			if !slices.Contains(packages[i+1:], to) {
				t.Errorf("docs/design.md: %s is not above %s", name, to)
			}
		}
	}
	for _, name := range packages {
		if _, ok := allowed[name]; !ok {
			t.Errorf("docs/design.md draws %s, for which there is no rule", name)
		}
	}
}

// The page names every package of the module, those for tests and examples as well.
func TestDesignNamesEveryPackage(t *testing.T) {
	page := readPage(t, "design.md")
	packages := drawn(t, page)
	for _, p := range list(t) {
		room := strings.TrimPrefix(p.ImportPath, module)
		if !slices.Contains(packages, room) && !strings.Contains(page, "`"+room+"`") {
			t.Errorf("docs/design.md does not name %s: draw it under \"The packages\", or name it in a table below if only tests or examples import it", room)
		}
	}
}

var (
	quoted  = regexp.MustCompile("`([^`\n]+)`")
	aPath   = regexp.MustCompile(`^[a-z_]+(/[a-z_]+)*(\.(go|lua|md|css|html|js))?$`)
	aName   = regexp.MustCompile(`^[A-Za-z]\w+$`)
	walkRow = regexp.MustCompile("(?m)^\\| ((?:`[^`|]+`(?:, )?)+) \\| ((?:`[^`|]+`(?:, )?)*)")
)

// Every path that the pages name exists.
func TestDesignNamesRealFiles(t *testing.T) {
	n := 0
	for _, m := range quoted.FindAllStringSubmatch(readPage(t, "design.md")+readPage(t, "compatibility.md"), -1) {
		name := m[1]
		if !strings.ContainsAny(name, "/.") || !aPath.MatchString(name) {
			continue
		}
		n++
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("docs names %s: %v", name, err)
		}
	}
	if n < 50 {
		t.Errorf("%d paths were found in docs", n)
	}
}

// Every function of a walk is in one of the files beside it.
func TestDesignNamesRealFunctions(t *testing.T) {
	n := 0
	for _, row := range walkRow.FindAllStringSubmatch(readPage(t, "design.md"), -1) {
		if !strings.Contains(row[1], ".go`") {
			continue // a table of folders
		}
		var source strings.Builder
		for _, m := range quoted.FindAllStringSubmatch(row[1], -1) {
			if path.Ext(m[1]) != ".go" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, m[1]))
			if err != nil {
				t.Error(err)
			}
			source.Write(text)
		}
		for _, m := range quoted.FindAllStringSubmatch(row[2], -1) {
			if !aName.MatchString(m[1]) {
				continue // a path
			}
			n++
			if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[1] + `[\[(]`).MatchString(source.String()) {
				t.Errorf("docs/design.md: %s has no function %s", row[1], m[1])
			}
		}
	}
	if n < 60 {
		t.Errorf("%d functions were found in docs/design.md", n)
	}
}

// stored finds the rows of stored formats: file, constant and version.
var stored = regexp.MustCompile("(?m)^\\|.*\\(`([^`]+)`, `(\\w+)`\\) \\| (\\w+) \\|")

// The versions of stored formats are those in the code.
func TestVersionsOfFormats(t *testing.T) {
	rows := stored.FindAllStringSubmatch(readPage(t, "compatibility.md"), -1)
	for _, row := range rows {
		text, err := os.ReadFile(filepath.Join(root, row[1]))
		if err != nil {
			t.Error(err)
		}
		if !regexp.MustCompile(`(?m)^(const |\t)` + row[2] + `\s+= "?` + row[3] + `"?($| )`).Match(text) {
			t.Errorf("docs/compatibility.md: %s of %s is not %s", row[2], row[1], row[3])
		}
	}
	if len(rows) != 7 {
		t.Errorf("docs/compatibility.md has %d formats with a version in the code, want 7: a new one changes this number", len(rows))
	}
}

// publicPackage finds the rows of public packages.
var publicPackage = regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| (?:a|the) ")

// The page of compatibility has a row for each public package, with a program that imports
// it. A package without such a program belongs into a folder internal.
func TestPublicPackages(t *testing.T) {
	var rows, public []string
	for _, m := range publicPackage.FindAllStringSubmatch(readPage(t, "compatibility.md"), -1) {
		rows = append(rows, m[1])
	}
	for _, p := range list(t) {
		if room := strings.TrimPrefix(p.ImportPath, module); p.Name != "main" && !strings.Contains("/"+room+"/", "/internal/") {
			public = append(public, room)
		}
	}
	slices.Sort(rows)
	slices.Sort(public)
	if !slices.Equal(rows, public) {
		t.Errorf("docs/compatibility.md has the packages\n%q; public are\n%q", rows, public)
	}
}
