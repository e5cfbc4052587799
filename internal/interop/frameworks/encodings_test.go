package frameworks

import (
	"bytes"
	"encoding/gob"
	"encoding/xml"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/bytedance/sonic"
	"github.com/fxamacker/cbor/v2"
	"github.com/gocarina/gocsv"
	gojson "github.com/goccy/go-json"
	goccyyaml "github.com/goccy/go-yaml"
	gotoml "github.com/pelletier/go-toml/v2"
	"github.com/vmihailenco/msgpack/v5"
	"gopkg.in/yaml.v3"

	"github.com/oidkit/oid/objectid"
)

var encodings = []row{
	{"yaml.v3", "gopkg.in/yaml.v3", yes, tryEncoding(yaml.Marshal, yaml.Unmarshal, "id: "+sample+"\nmany:\n    - "+sample+"\nzero: \""+zeros+"\"\n")},
	{"goccy/go-yaml", "github.com/goccy/go-yaml", yes, tryEncoding(goccyyaml.Marshal, func(b []byte, v any) error { return goccyyaml.Unmarshal(b, v) }, "id: "+sample+"\nmany:\n- "+sample+"\nzero: \""+zeros+"\"\n")},
	{"BurntSushi/toml", "github.com/BurntSushi/toml", yes, tryEncoding(toml.Marshal, toml.Unmarshal, "id = \""+sample+"\"\nmany = [\""+sample+"\"]\nzero = \""+zeros+"\"\n")},
	{"go-toml", "github.com/pelletier/go-toml/v2", yes, tryEncoding(gotoml.Marshal, gotoml.Unmarshal, "id = '"+sample+"'\nmany = ['"+sample+"']\nzero = '"+zeros+"'\n")},
	{"encoding/xml", "", yes, tryEncoding(xml.Marshal, xml.Unmarshal, "<doc><id>"+sample+"</id><many>"+sample+"</many><zero>"+zeros+"</zero></doc>")},
	{"encoding/gob", "", yes, tryEncoding(marshalGob, unmarshalGob, "")},
	{"sonic", "github.com/bytedance/sonic", yes, tryEncoding(sonic.Marshal, sonic.Unmarshal, `{"id":"`+sample+`","many":["`+sample+`"],"zero":null}`)},
	{"goccy/go-json", "github.com/goccy/go-json", yes, tryEncoding(gojson.Marshal, gojson.Unmarshal, `{"id":"`+sample+`","many":["`+sample+`"],"zero":null}`)},
	{"msgpack", "github.com/vmihailenco/msgpack/v5", yes, tryEncoding(msgpack.Marshal, msgpack.Unmarshal, "\x83\xa2id\xc4\x0c"+raw+"\xa4many\x91\xc4\x0c"+raw+"\xa4zero\xc4\x0c"+rawZero)},
	{"cbor", "github.com/fxamacker/cbor/v2", yes, tryEncoding(cbor.Marshal, cbor.Unmarshal, "\xa3bid\x4c"+raw+"dmany\x81\x4c"+raw+"dzero\x4c"+rawZero)},
	{"gocsv", "github.com/gocarina/gocsv", yes, tryCSV},
}

var (
	raw     = string(id[:])
	zeros   = objectid.ID{}.String()
	rawZero = strings.Repeat("\x00", objectid.Size)
)

type doc struct {
	ID   objectid.ID   `json:"id" yaml:"id" toml:"id" xml:"id" msgpack:"id" cbor:"id"`
	Many []objectid.ID `json:"many" yaml:"many" toml:"many" xml:"many" msgpack:"many" cbor:"many"`
	Zero objectid.ID   `json:"zero" yaml:"zero" toml:"zero" xml:"zero" msgpack:"zero" cbor:"zero"`
}

// tryEncoding returns a test that writes a doc and reads it again. If want is not empty, it is
// what must be written. Reading a damaged id must fail.
func tryEncoding(marshal func(any) ([]byte, error), unmarshal func([]byte, any) error, want string) func(t *testing.T) {
	return func(t *testing.T) {
		in := doc{ID: id, Many: []objectid.ID{id}}
		b, err := marshal(in)
		if err != nil || want != "" && string(b) != want {
			t.Fatalf("written as %q, %v\nwant       %q", b, err, want)
		}
		var out doc
		if err := unmarshal(b, &out); err != nil || !reflect.DeepEqual(out, in) {
			t.Errorf("read as %v, %v", out, err)
		}
		for _, text := range []string{sample, raw} {
			if bytes.Contains(b, []byte(text)) {
				wantFailure(t, "bytes that are no id", unmarshal(bytes.ReplaceAll(b, []byte(text), []byte("Rheumatology" + text[12:])[:len(text)-1]), &out))
			}
		}
		// An id whose digits look like a number is still read as an id.
		number := doc{ID: objectid.MustParse("507000000000000000000011"), Many: []objectid.ID{objectid.MustParse("5070000000000000000e0011")}}
		out = doc{}
		if b, err = marshal(number); err == nil {
			err = unmarshal(b, &out)
		}
		if err != nil || !reflect.DeepEqual(out, number) {
			t.Errorf("%q is read as %v, %v", b, out, err)
		}
	}
}

func marshalGob(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func unmarshalGob(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }

func tryCSV(t *testing.T) {
	type line struct {
		ID      objectid.ID  `csv:"id"`
		Pointer *objectid.ID `csv:"pointer"`
	}
	b, err := gocsv.MarshalBytes([]line{{ID: id, Pointer: &id}})
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, "table", string(b), "id,pointer\n"+sample+","+sample)
	var lines []line
	if err := gocsv.UnmarshalBytes(b, &lines); err != nil || len(lines) != 1 {
		t.Fatalf("%v, %v", lines, err)
	}
	wantID(t, "read", nil, lines[0].ID, *lines[0].Pointer)
	wantFailure(t, "tea", gocsv.UnmarshalBytes([]byte("id\ntea\n"), &lines))
	wantFailure(t, "an empty field", gocsv.UnmarshalBytes([]byte("id,pointer\n"+sample+",\n"), &lines))
}
