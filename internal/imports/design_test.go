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
)

const root = "../../"

// readPage returns a page of the folder docs.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(root + "docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// drawn returns the packages of the page's drawing from top to bottom, and what
// arrows lead to from each; nil stands for everything.
func drawn(t *testing.T, page string) (packages []string, arrows map[string][]string) {
	t.Helper()
	_, rest, found := strings.Cut(page, "```text\n")
	drawing, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("docs/design.md has no drawing")
	}
	arrows = make(map[string][]string)
	name, inArrow := "", false
	for line := range strings.SplitSeq(drawing, "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case !strings.HasPrefix(line, " "):
			name, inArrow = fields[0], false
			packages = append(packages, name)
			arrows[name] = []string{}
			continue
		case fields[0] == "->":
			inArrow, fields = true, fields[1:]
		case !inArrow:
			t.Errorf("docs/design.md: a line of the drawing that belongs to nothing: %q", line)
		}
		if arrows[name] = append(arrows[name], fields...); slices.Equal(fields, []string{"everything"}) {
			arrows[name] = nil
		}
	}
	return packages, arrows
}

// The drawing shows the rules that hold, and no arrow of it points upwards.
func TestDesignDrawsTheRules(t *testing.T) {
	packages, arrows := drawn(t, readPage(t, "design.md"))
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		got, ok := arrows[name]
		want := slices.Clone(allowed[name])
		slices.Sort(got)
		slices.Sort(want)
		switch {
		case !ok:
			t.Errorf("docs/design.md does not draw %s: draw it under \"The packages\", above all that it imports", name)
		case !slices.Equal(got, want), (got == nil) != (want == nil):
			t.Errorf("docs/design.md draws %s -> %v, the rule is %v", name, got, want)
		}
	}
	for i, name := range packages {
		if _, ok := allowed[name]; !ok {
			t.Errorf("docs/design.md draws %s, for which there is no rule", name)
		}
		for _, to := range arrows[name] {
			if !slices.Contains(packages[i+1:], to) {
				t.Errorf("docs/design.md: the arrow from %s to %s points upwards", name, to)
			}
		}
	}
}

// The page names every package of the module, those for tests and examples as well.
func TestDesignNamesEveryPackage(t *testing.T) {
	page := readPage(t, "design.md")
	packages, _ := drawn(t, page)
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
	if n < 70 {
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
		t.Errorf("docs/compatibility.md has %d formats with a version in the code, want 7", len(rows))
	}
}
