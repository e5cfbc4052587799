package table_test

import (
	"testing"

	"github.com/oidkit/oid/cmd/oid/internal/table"
)

// TestFilePath: the slashes of a URL do not belong to a path that begins with a drive.
func TestFilePath(t *testing.T) {
	for url, want := range map[string]string{
		`sqlite:C:\data\oid.db`:     `C:\data\oid.db`,
		"sqlite:C:/data/oid.db":     "C:/data/oid.db",
		"sqlite:/C:/data/oid.db":    "C:/data/oid.db",
		"sqlite:///C:/data/oid.db":  "C:/data/oid.db",
		`sqlite:///c:\data\oid.db`:  `c:\data\oid.db`,
		"sqlite:oid.db":             "oid.db",
		"sqlite:/data/oid.db":       "/data/oid.db",
		`sqlite:\\host\share\x.db`:  `\\host\share\x.db`,
		"sqlite://host/share/x.db":  "//host/share/x.db",
		`sqlite:\\?\C:\data\oid.db`: `\\?\C:\data\oid.db`,
	} {
		if got := table.FilePath("sqlite", url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
