package storelock_test

import (
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// A record of another version, and one without a version, is an error of each method
// that reads it, and is left alone.
func TestRecordOfAnotherVersion(t *testing.T) {
	for _, version := range []any{2, int64(1) << 40, "1", nil} {
		s, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l := newLocker(t, s, nil)
		defer l.Close()
		doc := bson.D{{Key: "_id", Value: "job"}, {Key: "version", Value: version}, {Key: "fence", Value: "7"}}
		if _, err := s.Insert(t.Context(), storelock.DefaultCollection, doc); err != nil {
			t.Fatal(err)
		}
		key, err := store.StringKey("job")
		if err != nil {
			t.Fatal(err)
		}
		before, err := s.Get(t.Context(), storelock.DefaultCollection, key)
		if err != nil {
			t.Fatal(err)
		}
		_, acquire := l.Acquire(t.Context(), "job", nil)
		_, try := l.TryAcquire(t.Context(), "job", nil)
		_, status := l.Status(t.Context(), "job")
		_, list := l.List(t.Context())
		for name, err := range map[string]error{"Acquire": acquire, "TryAcquire": try, "Status": status, "List": list} {
			if err == nil || !strings.Contains(err.Error(), "want 1; use the version of the program that wrote it") {
				t.Errorf("version %v: %s: %v", version, name, err)
			}
		}
		if after, err := s.Get(t.Context(), storelock.DefaultCollection, key); err != nil || string(after) != string(before) {
			t.Errorf("the record is %v now, %v; it was %v", after, err, before)
		}
	}
}
