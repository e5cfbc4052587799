package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// countedRow is a row of the table in docs/explanation/testing.md.
var countedRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([\d,]+) \|$`)

// The numbers in the page on tests are those of this tree, within a fifth.
func TestTestingPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/explanation/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	now := countTests(t)
	text := countedRow.ReplaceAllStringFunc(string(page), func(row string) string {
		m := countedRow.FindStringSubmatch(row)
		n, known := now[m[1]]
		if !known {
			t.Errorf("nothing counts %q", m[1])
			return row
		}
		delete(now, m[1])
		if written, _ := strconv.Atoi(strings.ReplaceAll(m[2], ",", "")); os.Getenv("OID_WRITE_GENERATED") != "1" {
			if written*4 > n*5 || written*5 < n*4 {
				t.Errorf("%s: %d, and the page says %d; run make generated", m[1], n, written)
			}
			return row
		}
		return "| " + m[1] + " | " + strconv.Itoa(n) + " |"
	})
	for what := range now {
		t.Errorf("the page does not have: %s", what)
	}
	generated(t, "docs/explanation/testing.md", text)
	generatedPart(t, "docs/explanation/testing.md", "claims", claimsTable(allClaims(t)))
}

// countTests counts what the page shows.
func countTests(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	functions := map[string]*regexp.Regexp{
		"test functions":             regexp.MustCompile(`(?m)^func Test[A-Z_]\w*\(t \*testing`),
		"fuzz tests":                 regexp.MustCompile(`(?m)^func Fuzz\w+\(`),
		"examples that are compiled": regexp.MustCompile(`(?m)^func Example\w*\(\)`),
	}
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && e.Name() != "..", e.IsDir() && e.Name() == "dist":
			return filepath.SkipDir
		case filepath.Ext(path) == ".txtar":
			n["scripts with sessions of the command"]++
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for what, pattern := range functions {
			n[what] += len(pattern.FindAll(text, -1))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	documents := readDocuments(t)
	for file, text := range documents {
		blocks, err := fencedBlocks(file, text)
		if err != nil {
			t.Error(err)
		}
		for _, b := range blocks {
			if _, not := unchecked[b.file+": "+b.language+": "+b.first()]; b.language == "console" && !not {
				n["commands in these documents that are run"] += strings.Count("\n"+b.text, "\n$ ")
			}
		}
	}
	inTable := func(file, row string) int { return len(regexp.MustCompile(row).FindAllString(documents[file], -1)) }
	n["faults and ordinary days that locks are put through"] = inTable("docs/lock-faults.md", `(?m)^\| [^|]+ \|.*\|$`) -
		2*inTable("docs/lock-faults.md", `(?m)^\| fault \|`) // without the heads of the tables, and what is below them
	n["models and spoiled variants of them"] = inTable("lock/redislock/internal/model/README.md", `(?m)^\| (lease|queue)\b`)
	return n
}
