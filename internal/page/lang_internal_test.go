package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/timerange"
)

// sourceTexts returns the texts that Go files give to Say and Prose, and all their literals.
func sourceTexts(t *testing.T, patterns ...string) (said, literals map[string]bool) {
	t.Helper()
	said, literals = map[string]bool{}, map[string]bool{}
	for _, pattern := range patterns {
		names, _ := filepath.Glob(pattern)
		if len(names) == 0 {
			t.Fatal("no files " + pattern)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || name == "lang.go" {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
						literals[text] = true
					}
				case *ast.CallExpr:
					f, ok := n.Fun.(*ast.SelectorExpr)
					if !ok || !slices.Contains([]string{"Say", "Prose", "either"}, f.Sel.Name) {
						break
					}
					arg := n.Args[0]
					if f.Sel.Name == "either" {
						arg = n.Args[1]
						n.Args = n.Args[1:] // the other is not for the static page
					}
					if lit, ok := arg.(*ast.BasicLit); ok {
						text, _ := strconv.Unquote(lit.Value)
						said[text] = true
					} else if _, sum := arg.(*ast.BinaryExpr); sum {
						t.Errorf("%s: the text of %s is a sum: write it as one literal", name, f.Sel.Name)
					}
				}
				return true
			})
		}
	}
	return said, literals
}

// Each text of the views has its Chinese, and each Chinese text is that of a text.
func TestChineseIsComplete(t *testing.T) {
	said, literals := sourceTexts(t, "*.go", "../../site/*.go", "../../site/build/*.go", "../../inspect/*.go", "../query/*.go", "../timerange/readings.go")
	said[Title], said[Description], said[timerange.Help("%s")] = true, true, true
	table, rows := chinese()
	for text := range said {
		if table[text] == "" {
			t.Errorf("zh.po has no Chinese for %q", text)
		}
	}
	same := regexp.MustCompile("%[a-z]|`")
	for text, zh := range table {
		if !said[text] && !literals[text] {
			t.Errorf("zh.po has Chinese for %q, which no view shows", text)
		}
		if want, got := same.FindAllString(text, -1), same.FindAllString(zh, -1); !slices.Equal(want, got) {
			t.Errorf("%q has %q, its Chinese has %q", text, want, got)
		}
	}

	help := timerange.Help("%s")
	for _, example := range regexp.MustCompile(`[^\s(),]*\d[^\s(),]*`).FindAllString(help, -1) {
		if example = strings.TrimRight(example, ".:"); !strings.Contains(table[help], example) {
			t.Errorf("the Chinese of timerange.Help has no %q", example)
		}
	}

	scripts, _ := filepath.Glob("static/*.js")
	more, _ := filepath.Glob("../../site/static/*.js")
	words := map[string]string{}
	for row := range strings.Lines(rows) {
		english, zh, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "=")
		if !ok || strings.Contains(zh, "=") || words[english] != "" {
			t.Errorf("zh.po: the script's text %q", row)
		}
		words[english] = zh
	}
	if entries := strings.Count(catalog, "\nmsgid ") - 1; len(table)+len(words) != entries || strings.Count(catalog, "\nmsgstr ") != entries+1 {
		t.Errorf("zh.po has %d entries, of which %d are read: two are the same, or no empty line is between them", entries, len(table)+len(words))
	}
	used := map[string]bool{}
	for _, name := range append(scripts, more...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bword\('([^']*)'\)`).FindAllSubmatch(data, -1) {
			used[string(m[1])] = true
			if words[string(m[1])] == "" {
				t.Errorf("%s: zh.po has no script's text %q", name, m[1])
			}
		}
	}
	for _, english := range slices.Sorted(maps.Keys(words)) {
		if !used[english] {
			t.Errorf("zh.po has the script's text %q, which no script shows", english)
		}
	}
}
