package filelock

import (
	"encoding/json"
	"testing"

	"github.com/oidkit/oid/lock"
)

// Whatever a record's file has: it is read as a record that can be written again,
// or as none.
func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"name":"job","owner":"192.0.2.1:0:1795166651598985:4711/507f1f77bcf86cd799439011","fence":7,"since":"2026-11-20T09:24:11Z","host":"h","command":"c","group":-1,"boot":"b","namespace":1,"pid":2,"ticks":3}`))
	f.Add([]byte(`{"name":"job","fence":18446744073709551615}`))
	f.Add([]byte(`{"fence":7}`))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decodeRecord(text)
		if err != nil && r != (record{}) {
			t.Errorf("%v beside %+v", err, r)
		}
		if r == (record{}) {
			return
		}
		if err := lock.CheckName(r.Name); err != nil {
			t.Error(err)
		}
		if r.Fence+1 <= r.Fence {
			t.Errorf("no fence can follow %d", r.Fence)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeRecord(again); err != nil || !got.Since.Equal(r.Since) || got.Name != r.Name || got.Owner != r.Owner || got.Fence != r.Fence || got.holder() != r.holder() {
			t.Errorf("%+v is read again as %+v", r, got)
		}
	})
}
