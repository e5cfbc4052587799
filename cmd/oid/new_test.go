package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/oidkit/oid/server/wire"
)

// The JSON of oid new, which it appends without an encoder, is that of wire.TimedID.
func TestNewJSON(t *testing.T) {
	for _, at := range []string{"1970-01-01", "2012-10-17T21:13:27Z", "2106-02-07T06:28:15Z"} {
		got := oid(t, "", "new", "-n", "3", "--json", "--at", at)
		for text := range strings.Lines(got.out) {
			var v wire.TimedID
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(v)
			if err != nil || text != string(want)+"\n" || v.ID.IsZero() {
				t.Errorf("at %s: %q, want %s, %v", at, text, want, err)
			}
		}
		if strings.Count(got.out, "\n") != 3 || got.code != 0 {
			t.Errorf("at %s: %+v, want three lines", at, got)
		}
	}
}
