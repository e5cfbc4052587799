package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/bench/page"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	for _, s := range []struct{ name, body string }{{"A", "first"}, {"B", "second"}, {"A", "third"}, {"A B", "fourth"}} {
		if err := page.Write(path, s.name, "make bench", s.body); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if strings.Contains(text, "first") || strings.Count(text, "# Measurements") != 1 {
		t.Errorf("page is\n%s", text)
	}
	last := -1
	for _, want := range []string{"\n## A\n", "third", "\n## B\n", "second", "\n## A B\n", "fourth"} {
		if i := strings.Index(text, want); i <= last {
			t.Errorf("%q is not where it belongs in\n%s", want, text)
		} else {
			last = i
		}
	}
}
