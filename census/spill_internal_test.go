package census

import (
	"bytes"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

// TestDiskFails counts more than there is room for in memory when the disk fails: what
// needs it says so, and does not go on with a part of the ids.
func TestDiskFails(t *testing.T) {
	var list bytes.Buffer
	ids := make([]objectid.ID, 150_000)
	objectid.Fill(ids)
	for _, id := range ids {
		list.WriteString(id.String() + "\n")
	}
	failing := func() *Census {
		c := New(&Options{Memory: 1})
		if err := c.Read(t.Context(), "all", bytes.NewReader(list.Bytes())); err != nil {
			t.Fatal(err)
		}
		if err := c.space.Settle(); err != nil || c.space.Disk == nil || c.space.InMemory > 0 { // as the first report does
			t.Fatalf("nothing was spilled: %v", err)
		}
		if err := c.space.Disk.File.Close(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	says := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	c := failing()
	says("Read", "spill ids to disk: ", c.Read(t.Context(), "again", bytes.NewReader(list.Bytes())))
	_, err := failing().Report(nil)
	says("Report", "read spilled ids: ", err)
	_, err = Compare(failing(), New(nil), nil)
	says("Compare", "read spilled ids: ", err)
	_, err = Compare(New(nil), failing(), nil)
	says("Compare", "read spilled ids: ", err)
}
