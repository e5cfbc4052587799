package sqlitestore

import (
	"net/url"
	"testing"
)

// TestURL: SQLite gets the path of each system whole. Behind file:// it would take what follows
// for the name of a host.
func TestURL(t *testing.T) {
	for path, want := range map[string]string{
		"/data/oid.db":           "file:/data/oid.db?mode=ro",
		"/data/a b?#%41.db":      "file:/data/a%20b%3F%23%2541.db?mode=ro",
		`C:\Users\a b\oid.db`:    "file:C:%5CUsers%5Ca%20b%5Coid.db?mode=ro",
		`\\host\share\oid.db`:    "file:%5C%5Chost%5Cshare%5Coid.db?mode=ro",
		`\\?\C:\long\oid.db`:     "file:%5C%5C%3F%5CC:%5Clong%5Coid.db?mode=ro",
		`C:\Users\Jürgen\oid.db`: "file:C:%5CUsers%5CJ%C3%BCrgen%5Coid.db?mode=ro",
	} {
		s := &database{path: path}
		if got := s.url(url.Values{"mode": {"ro"}}); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
