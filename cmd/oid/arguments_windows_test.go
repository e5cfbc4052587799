package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The shells of Windows leave patterns to programs.
func TestPatterns(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.bson", "b.bson", "c.json", "d[1].bson"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("dump", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(`dump\e.bson`, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ names, want string }{
		{"", "-"},
		{"-", "-"},
		{"missing", "missing"},
		{"*.bson", "a.bson b.bson d[1].bson"},
		{"?.bson c.json", "a.bson b.bson c.json"},
		{"d[1].bson", "d[1].bson"},
		{"d[1].*", "d[1].bson"},
		{`dump\*`, `dump\e.bson`},
		{"dump/*", `dump\e.bson`},
		{"postgres://host/db?sslmode=disable#t mongodb://host/*", "postgres://host/db?sslmode=disable#t mongodb://host/*"},
	} {
		if got, err := filesOf(strings.Fields(test.names)); err != nil || !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s: %q, %v, want %s", test.names, got, err, test.want)
		}
	}
	if _, err := filesOf([]string{"*.csv"}); err == nil || !strings.Contains(err.Error(), "*.csv: no file matches") {
		t.Errorf("a pattern without a file: %v", err)
	}
}
