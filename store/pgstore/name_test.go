package pgstore

import (
	"bytes"
	"strings"
	"testing"

	"github.com/oidkit/oid/store"
)

// TestNames: a table has the name of its collection if PostgreSQL allows names of that length,
// and otherwise a name that no other collection has.
func TestNames(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, want := range map[string]string{
		"a": "a", "^a": "^0^a", x(63): x(63), "^" + x(60): "^0^" + x(60),
		x(64): longName + digest(x(64)) + x(29), "^" + x(61): longName + digest("^"+x(61)) + "^" + x(28),
	} {
		got := encodeName(name)
		if got != want || len(got) > maxIdentifier {
			t.Errorf("table of %q is %q, want %q", name, got, want)
		}
		if back, ok := decodeName(got, name); back != name || !ok {
			t.Errorf("collection of table %q with comment %q: %q, %v", got, name, back, ok)
		}
	}
	for name, comment := range map[string]string{formatTable: "", encodeName(x(64)): "", encodeName(x(65)): x(64), "^2something": "something"} {
		if got, ok := decodeName(name, comment); ok {
			t.Errorf("table %q with comment %q is taken for that of %q", name, comment, got)
		}
	}
}

// TestBoundsThatAreTooLong: a bound that is longer than any key is truncated. The truncated
// bound must be on the same side of every key as the whole one.
func TestBoundsThatAreTooLong(t *testing.T) {
	bound, err := store.StringKey(strings.Repeat("m", maxString+5))
	if err != nil {
		t.Fatal(err)
	}
	_, args := condition(store.Range{From: bound, To: bound}, false)
	for text, below := range map[string]bool{
		"a": true, "m": true, strings.Repeat("m", maxString-1): true, strings.Repeat("m", maxString): true,
		strings.Repeat("m", maxString-1) + "n": false, "n": false,
	} {
		key, err := store.StringKey(text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := encode(key)
		if err != nil || key.Compare(bound) < 0 != below {
			t.Fatal(err, below)
		}
		for _, arg := range args {
			if bytes.Compare(b, arg.([]byte)) < 0 != below {
				t.Errorf("%.10q of %d bytes is below the bound: %v, want %v", text, len(text), !below, below)
			}
		}
	}
}
