package objectid_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

const sample = "507f1f77bcf86cd799439011"

func TestBinary(t *testing.T) {
	id := objectid.MustParse(sample)
	b, err := id.MarshalBinary()
	if err != nil || !bytes.Equal(b, id[:]) {
		t.Fatalf("MarshalBinary() = %x, %v", b, err)
	}
	var back objectid.ID
	if err := back.UnmarshalBinary(b); err != nil || back != id {
		t.Errorf("UnmarshalBinary(%x) = %v, %v", b, back, err)
	}
	for _, bad := range []string{"", "short", "13 bytes long", sample} {
		err := back.UnmarshalBinary([]byte(bad))
		if !errors.Is(err, objectid.ErrInvalid) || !strings.Contains(err.Error(), "want 12") || back != id {
			t.Errorf("UnmarshalBinary(%q): %v, id %v", bad, err, back)
		}
	}
	var buf bytes.Buffer
	var viaGob objectid.ID
	if err := gob.NewEncoder(&buf).Encode(id); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&buf).Decode(&viaGob); err != nil || viaGob != id {
		t.Errorf("gob: %v, %v", viaGob, err)
	}
}

func TestJSON(t *testing.T) {
	type doc struct {
		ID   objectid.ID            `json:"id"`
		Left objectid.ID            `json:"left,omitzero"`
		By   map[objectid.ID]int    `json:"by"`
		List []objectid.ID          `json:"list"`
		Ptr  *objectid.ID           `json:"ptr"`
		Hex  objectid.Hex           `json:"hex"`
		Any  map[string]objectid.ID `json:"any"`
	}
	id := objectid.MustParse(sample)
	in := doc{ID: id, By: map[objectid.ID]int{id: 1}, List: []objectid.ID{id, {}}, Ptr: &id, Hex: objectid.Hex{ID: id}}
	b, err := json.Marshal(in)
	want := `{"id":"` + sample + `","by":{"` + sample + `":1},"list":["` + sample + `",null],"ptr":"` + sample + `","hex":"` + sample + `","any":null}`
	if err != nil || string(b) != want {
		t.Fatalf("Marshal = %s, %v\nwant %s", b, err, want)
	}
	var out doc
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(out); string(again) != want {
		t.Errorf("came back as %s", again)
	}
}

func TestUnmarshalJSONReads(t *testing.T) {
	for _, s := range []string{
		`"` + sample + `"`,
		`"` + strings.ToUpper(sample) + `"`,
		`{"$oid":"` + sample + `"}`,
		` { "$oid" : "` + sample + "\" }\n",
		`"\u0035` + sample[1:] + `"`,
		`{"\u0024oid":"` + sample + `"}`,
	} {
		var id objectid.ID
		if err := json.Unmarshal([]byte(s), &id); err != nil || id.String() != sample {
			t.Errorf("Unmarshal(%s) = %v, %v", s, id, err)
		}
		id = objectid.ID{}
		if err := id.UnmarshalJSON([]byte(s)); err != nil || id.String() != sample {
			t.Errorf("UnmarshalJSON(%s) = %v, %v", s, id, err)
		}
	}
	id := objectid.New()
	if err := json.Unmarshal([]byte("null"), &id); err != nil || !id.IsZero() {
		t.Errorf("null: %v, %v, want the zero ID", id, err)
	}
}

// badJSON is JSON, or not even that, that is no id.
var badJSON = []string{
	``, ` `, `"`, `""`, `"hello world!"`, `true`, `0`, `507111111111111111111111`, `[]`, `{}`, `nul`, `NULL`, `null0`,
	`["` + sample + `"]`,
	`"` + sample, sample, `"` + sample + `"x`, `"` + sample + `" "x"`,
	`{"$oid":null}`, `{"$oid":""}`, `{"$oid":1}`, `{"$oid":["` + sample + `"]}`, `{"$oid":{"$oid":"` + sample + `"}}`,
	`{"$OID":"` + sample + `"}`, `{"oid":"` + sample + `"}`, `{"$id":"` + sample + `"}`,
	`{"$oid":"` + sample + `","x":1}`, `{"x":1,"$oid":"` + sample + `"}`, `{"$oid":"` + sample + `","$oid":"` + sample + `"}`,
	`{"$oid":"` + sample + `"`, `{"$oid":"` + sample + `"}}`, `{"$oid":"` + sample + `"} 1`, `{"$oid":"hello world!"}`,
	`{"$oid" "` + sample + `"}`, `{$oid:"` + sample + `"}`,
	"\"\\u12" + sample[5:] + `"`,
}

func TestUnmarshalJSONRefuses(t *testing.T) {
	for _, s := range badJSON {
		id := objectid.ID{7}
		if err := id.UnmarshalJSON([]byte(s)); !errors.Is(err, objectid.ErrInvalid) || id != (objectid.ID{7}) {
			t.Errorf("UnmarshalJSON(%s): %v, left %v", s, err, id)
		}
		if err := json.Unmarshal([]byte(s), &id); err == nil || id != (objectid.ID{7}) {
			t.Errorf("Unmarshal(%s): %v, left %v", s, err, id)
		}
	}
}

func FuzzUnmarshalJSON(f *testing.F) {
	for _, s := range badJSON {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"$oid":"` + sample + `"}`))
	f.Add([]byte(`"` + sample + `"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		id := objectid.ID{7}
		if err := id.UnmarshalJSON(b); err != nil {
			if !errors.Is(err, objectid.ErrInvalid) || id != (objectid.ID{7}) {
				t.Fatalf("%q: %v, left %v", b, err, id)
			}
			return
		}
		// What was taken is what a generic JSON reader makes of it.
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%q was taken as %v but is no JSON: %v", b, id, err)
		}
		if object, ok := v.(map[string]any); ok {
			v = object["$oid"]
		}
		if v == nil && id.IsZero() {
			return
		}
		if s, _ := v.(string); !strings.EqualFold(s, id.String()) {
			t.Fatalf("%q was taken as %v", b, id)
		}
	})
}

func TestBSONValue(t *testing.T) {
	id := objectid.MustParse(sample)
	if typ, data, err := id.MarshalBSONValue(); typ != 0x07 || !bytes.Equal(data, id[:]) || err != nil {
		t.Errorf("MarshalBSONValue() = %#x, %x, %v", typ, data, err)
	}
	if typ, data, err := (objectid.ID{}).MarshalBSONValue(); typ != 0x0A || len(data) != 0 || err != nil {
		t.Errorf("the zero ID's MarshalBSONValue() = %#x, %x, %v, want null", typ, data, err)
	}
	var got objectid.ID
	if err := got.UnmarshalBSONValue(0x07, id[:]); err != nil || got != id {
		t.Errorf("UnmarshalBSONValue(0x07) = %v, %v", got, err)
	}
	if err := got.UnmarshalBSONValue(0x0A, nil); err != nil || !got.IsZero() {
		t.Errorf("UnmarshalBSONValue(0x0A) = %v, %v, want the zero ID", got, err)
	}
	for _, c := range []struct {
		typ  byte
		data string
	}{
		{0x07, ""},
		{0x07, "short"},
		{0x07, sample},
		{0x0A, "x"},
		{0x0A, string(id[:])},
		{0x02, "\x08\x00\x00\x00hello w\x00"}, // a string that is 12 bytes long as a value
		{0x02, "\x19\x00\x00\x00" + sample + "\x00"},
		{0x05, "\x07\x00\x00\x00\x00hello w"}, // binary, 12 bytes as a value
		{0x03, "\x0c\x00\x00\x00\x10a\x00\x01\x00\x00\x00\x00"},
		{0x06, ""},
		{0x00, string(id[:])},
		{0xFF, string(id[:])},
		{0x7F, string(id[:])},
		{0x0C, string(id[:])},
	} {
		got := objectid.ID{7}
		if err := got.UnmarshalBSONValue(c.typ, []byte(c.data)); !errors.Is(err, objectid.ErrInvalid) || got != (objectid.ID{7}) {
			t.Errorf("UnmarshalBSONValue(%#x, %q): %v, left %v", c.typ, c.data, err, got)
		}
	}
}

func FuzzUnmarshalBSONValue(f *testing.F) {
	f.Add(byte(0x07), []byte("hello world!"))
	f.Add(byte(0x02), []byte("\x08\x00\x00\x00hello w\x00"))
	f.Fuzz(func(t *testing.T, typ byte, data []byte) {
		id := objectid.ID{7}
		err := id.UnmarshalBSONValue(typ, data)
		want := objectid.ID{7}
		switch {
		case typ == 0x07 && len(data) == objectid.Size:
			want = objectid.ID(data)
		case typ == 0x0A && len(data) == 0:
			want = objectid.ID{}
		case !errors.Is(err, objectid.ErrInvalid):
			t.Fatalf("type %#x, %x: %v", typ, data, err)
		}
		if id != want {
			t.Fatalf("type %#x, %x: %v, want %v", typ, data, id, want)
		}
	})
}

func TestLogValue(t *testing.T) {
	var buf bytes.Buffer
	h := slog.NewJSONHandler(&buf, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	slog.New(h).Info("made", "id", objectid.MustParse(sample), "none", objectid.ID{})
	if got, want := buf.String(), `{"level":"INFO","msg":"made","id":"`+sample+`","none":null}`+"\n"; got != want {
		t.Errorf("logged %s, want %s", got, want)
	}
	buf.Reset()
	slog.New(h).Info("made", "id", (*objectid.ID)(nil))
	if got := buf.String(); !strings.Contains(got, "LogValue panicked") {
		t.Errorf("a nil *ID: logged %s; the doc of LogValue says otherwise", got)
	}
}
