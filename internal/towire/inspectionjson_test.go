package towire_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/server/wire"
)

// The fast way and encoding/json write the same.
func TestAppendInspection(t *testing.T) {
	var in towire.Inspections
	for _, found := range []wire.Found{
		{Source: "stdin", Line: 1},
		{Source: "argument", Line: 17, Before: "é \"<&>\\ \x00\x7f\xff\u2028", After: `"),`},
		{Source: "stdin", Line: 3, After: "z"},
	} {
		for _, trace := range []*wire.Trace{nil, {}} {
			for _, id := range []string{
				"507f1f77bcf86cd799439011", "6592008029c8c3e4dc76256c", "ffffffff29c8c3e4dc76256c", "000000000000000000000000",
				"c232ab00-9414-11ec-b3c8-9f6bdeced846", "919108f7-52d1-4320-9bac-f847db4148a8", "00000000-0000-0000-0000-000000000000",
				"01ARZ3NDEKTSV4RRFFQ69G5FAV", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "9m4e2mr0ui3e8a215n4g", "175928847299117063",
				"user_01h455vb4pex5vsknk084sn02q", "10.0.0.7:8080:1795166651598985:4711",
			} {
				r, err := inspect.Inspect(id, nil)
				if err != nil {
					t.Fatal(err)
				}
				found.Text = id
				all := pure.Inspection(r)
				all.Found, all.Trace = &found, trace
				var want bytes.Buffer
				e := json.NewEncoder(&want)
				e.SetEscapeHTML(false)
				if err := e.Encode(all); err != nil {
					t.Fatal(err)
				}
				if got := in.Append(nil, r, found, trace); string(got) != want.String() {
					t.Errorf("%s:\n%swant\n%s", id, got, &want)
				}
			}
		}
	}
}
