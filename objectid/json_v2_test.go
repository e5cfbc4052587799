package objectid_test

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"github.com/oidkit/oid/objectid"
)

// The functions of encoding/json/v2, or nil if this Go has none.
var (
	marshalV2   func(any) ([]byte, error)
	unmarshalV2 func([]byte, any) error
)

// encoding/json/v2 writes and reads ids as encoding/json does, in each place of a document.
func TestJSONV2(t *testing.T) {
	if marshalV2 == nil {
		t.Skip("this Go has no encoding/json/v2: set GOEXPERIMENT=jsonv2")
	}
	type doc struct {
		ID    objectid.ID                   `json:"id"`
		None  objectid.ID                   `json:"none"`
		Zero  objectid.ID                   `json:"zero,omitzero"`
		Ptr   *objectid.ID                  `json:"ptr"`
		Nil   *objectid.ID                  `json:"nil"`
		List  []objectid.ID                 `json:"list"`
		Maps  []map[objectid.ID]objectid.ID `json:"maps"`
		Hex   objectid.Hex                  `json:"hex"`
		ByHex map[objectid.Hex]int          `json:"by_hex"`
		ByPtr map[*objectid.ID]int          `json:"by_ptr"`
		Any   any                           `json:"any"`
	}
	id := objectid.MustParse(sample)
	in := doc{
		ID: id, Ptr: &id, List: []objectid.ID{id, {}}, Maps: []map[objectid.ID]objectid.ID{{{}: {}}, {id: id}, {{}: id}},
		Hex: objectid.Hex{ID: id}, ByHex: map[objectid.Hex]int{{}: 1}, ByPtr: map[*objectid.ID]int{{}: 1}, Any: map[objectid.ID]any{{}: objectid.ID{}},
	}
	const s, zero = `"` + sample + `"`, `"000000000000000000000000"`
	want := `{"id":` + s + `,"none":null,"ptr":` + s + `,"nil":null,"list":[` + s + `,null],"maps":[{` + zero + `:null},{` + s + `:` + s + `},{` + zero + `:` + s +
		`}],"hex":` + s + `,"by_hex":{` + zero + `:1},"by_ptr":{` + zero + `:1},"any":{` + zero + `:null}}`
	for name, marshal := range map[string]func(any) ([]byte, error){"v2": marshalV2, "v1": json.Marshal} {
		if b, err := marshal(in); err != nil || string(b) != want {
			t.Errorf("%s: %s, %v\nwant %s", name, b, err, want)
		}
	}
	var out doc
	err := unmarshalV2([]byte(want), &out)
	if err != nil || out.ID != id || !out.None.IsZero() || *out.Ptr != id || out.Nil != nil || out.Hex != in.Hex ||
		!maps.Equal(out.Maps[0], in.Maps[0]) || !maps.Equal(out.Maps[2], in.Maps[2]) || !maps.Equal(out.ByHex, in.ByHex) {
		t.Errorf("came back as %+v, %v", out, err)
	}
	for _, bad := range []string{`{"Rheumatology":1}`, `{"":1}`, `{"null":1}`} {
		var m map[objectid.ID]int
		if err := unmarshalV2([]byte(bad), &m); !errors.Is(err, objectid.ErrInvalid) {
			t.Errorf("%s: %v, %v", bad, m, err)
		}
	}
	// Many zero keys with other ids do not cut the output.
	big := map[objectid.ID][]objectid.ID{{}: {{}, id}}
	for range 100 {
		big[objectid.New()] = []objectid.ID{id, {}}
	}
	var back map[objectid.ID][]objectid.ID
	b, err := marshalV2(big)
	if err := errors.Join(err, unmarshalV2(b, &back)); err != nil || len(back) != 101 {
		t.Errorf("%d of 101 keys came back: %v", len(back), err)
	}
}
