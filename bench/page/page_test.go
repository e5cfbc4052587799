package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	for _, s := range []struct{ name, body string }{{"A", "first"}, {"B", "second"}, {"A", "third"}, {"A B", "fourth"}} {
		if err := Write(path, s.name, "make bench", s.body); err != nil {
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

// What differs from the page before by more than noise is listed.
func TestChanges(t *testing.T) {
	table := func(a, b string) string {
		return "| logs | MB/s | ratio |\n|---|---:|---:|\n| oid | 1 | 1.00 |\n| a | 700 | " + a + " |\n| b | 2 | " + b + " |\n"
	}
	before := table("1.00", "0.50")
	for _, s := range []struct{ a, b, want string }{
		{"1.00", "0.50", ""}, {"1.09", "0.56", "\n- logs: b: 0.56, was 0.5\n"}, {"1.0", "0.54", ""},
	} {
		if _, list, _ := strings.Cut(Changes(before, table(s.a, s.b)), "from the page before:\n"); list != s.want {
			t.Errorf("%+v: %q, want %q", s, list, s.want)
		}
	}
	both := func(ratio string) string {
		return "| MB/s and ratio | logs | lists |\n|---|---:|---:|\n| a | 1, 1.00 | 700, " + ratio + " |\n"
	}
	if list := Changes(both("1.00"), both("0.50")); !strings.HasSuffix(list, "\n- lists: a: 0.5, was 1\n") {
		t.Errorf("of both: %q", list)
	}
}
