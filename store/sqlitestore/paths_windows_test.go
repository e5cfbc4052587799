package sqlitestore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store/sqlitestore"
)

// TestPaths: a store opens at a path in each form that Windows knows, and again through the others.
func TestPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b#%41 Jürgen")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	whole := filepath.Join(dir, "oid.db")
	drive := filepath.VolumeName(dir)
	write := open(t, whole, nil)
	id, err := write.Insert(t.Context(), "events", bson.D{{Key: "n", Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		whole,
		filepath.ToSlash(whole),
		strings.ToLower(drive) + whole[len(drive):],
		whole[len(drive):],
		"oid.db",
		`.\oid.db`,
		`..\` + filepath.Base(dir) + "/oid.db",
		drive + "oid.db",
		`\\?\` + whole,
		"//./" + filepath.ToSlash(whole),
	} {
		for _, o := range []*sqlitestore.Options{nil, {ReadOnly: true}} {
			s, err := sqlitestore.Open(t.Context(), path, o)
			if err != nil {
				t.Error(err)
				continue
			}
			if _, err := s.Get(t.Context(), "events", id); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for path, want := range map[string]string{
		drive:            "it is a folder",
		drive + `\`:      "it is a folder",
		"NUL":            "not a regular file",
		`missing\oid.db`: "find its folder",
	} {
		if _, err := sqlitestore.Open(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestShare: a store is not opened in a folder of another host.
func TestShare(t *testing.T) {
	drive := os.Getenv("OID_TEST_SHARE") // the letter of a drive
	if drive == "" {
		t.Skip("OID_TEST_SHARE names no drive of another host")
	}
	if _, err := sqlitestore.Open(t.Context(), filepath.Join(drive+`\\`, "oid.db"), nil); err == nil || !strings.Contains(err.Error(), "network file system (a share)") {
		t.Errorf("%v", err)
	}
}
