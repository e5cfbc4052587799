package bsonwalk_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/bsonwalk"
	"github.com/oidkit/oid/internal/testenv"
)

// TestWalkReadsAllTypes compares the elements with those that the BSON library
// reads.
func TestWalkReadsAllTypes(t *testing.T) {
	for _, doc := range testenv.Documents(false) {
		want, err := doc.Elements()
		if err != nil {
			t.Fatal(err)
		}
		w := bsonwalk.New(doc)
		for _, e := range want {
			if !w.Next() || string(w.Name()) != e.Key() || w.Type() != byte(e.Value().Type) || !bytes.Equal(w.Value(), e.Value().Value) {
				t.Fatalf("%v: %q of type 0x%02X is %x, %v, want %v", doc, w.Name(), w.Type(), w.Value(), w.Err(), e)
			}
			start, value, end := w.Offsets()
			if !bytes.Equal(doc[start:end], e) || !bytes.Equal(doc[value:end], w.Value()) {
				t.Errorf("%v: element at %d, %d, %d", doc, start, value, end)
			}
		}
		if w.Next() || w.Err() != nil {
			t.Errorf("%v: more after the last element, %v", doc, w.Err())
		}
	}
}

// TestWalkRefusesCuts cuts documents everywhere: each cut is noticed.
func TestWalkRefusesCuts(t *testing.T) {
	for _, doc := range testenv.Documents(false) {
		if len(doc) > 2000 {
			continue
		}
		for n := range len(doc) - 5 {
			cut := slices.Concat(doc[:4+n], []byte{0})
			cut[0], cut[1] = byte(len(cut)), byte(len(cut)>>8)
			w := bsonwalk.New(cut)
			read := 0
			for w.Next() {
				_, _, read = w.Offsets()
			}
			if whole := read == len(cut)-1 || n == 0; (w.Err() == nil) != whole {
				t.Errorf("%v cut to %d bytes: %v after %d bytes", doc, len(cut), w.Err(), read)
			}
		}
	}
}

// TestWalkSaysWhatIsWrong: each message names the field, what the document says and
// what it has; a value that just fits is read.
func TestWalkSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ doc, want string }{
		{"", "the data ends before the document does"},
		{"\x04\x00\x00\x00", "the data ends before the document does"},
		{"\x05\x00\x00\x00\x00", ""},
		{"\x06\x00\x00\x00\x00", "its length is 5 bytes, but it says 6"},
		{"\x05\x00\x00\x80\x00", "its length is 5 bytes, but it says 2147483653"},
		{"\x05\x00\x00\x00\x01", "no zero byte at its end"},
		{"\x08\x00\x00\x00\x0aab\x00", "the data ends before the document does"},
		{"\x08\x00\x00\x00\x0aa\x00\x00", ""},
		{"\x09\x00\x00\x00\x08a\x00\x01\x00", ""},
		{"\x08\x00\x00\x00\x08a\x00\x00", `field "a": the data ends before the document does`},
		{"\x0b\x00\x00\x00\x10a\x00\x01\x02\x03\x00", `field "a": the data ends before the document does`},
		{"\x08\x00\x00\x00\x20a\x00\x00", `field "a": 0x20 is not a BSON type`},
		{"\x0b\x00\x00\x00\x02a\x00\x01\x00\x00\x00", `field "a": the data ends before the document does`},
		{"\x0d\x00\x00\x00\x02a\x00\x01\x00\x00\x00\x00\x00", ""},
		{"\x0d\x00\x00\x00\x02a\x00\x00\x00\x00\x00\x00\x00", `field "a": length of 0 bytes, want 1 at least`},
		{"\x0d\x00\x00\x00\x02a\x00\x02\x00\x00\x00\x00\x00", `field "a": value of 6 bytes, 5 are left`},
		{"\x0d\x00\x00\x00\x02a\x00\xff\xff\xff\xff\x00\x00", `field "a": value of 4294967299 bytes, 5 are left`},
		{"\x0c\x00\x00\x00\x03a\x00\x04\x00\x00\x00\x00", `field "a": length of 4 bytes, want 5 at least`},
		{"\x0d\x00\x00\x00\x04a\x00\x05\x00\x00\x00\x00\x00", ""},
		{"\x0d\x00\x00\x00\x05a\x00\x00\x00\x00\x00\x00\x00", ""},
		{"\x0c\x00\x00\x00\x05a\x00\x00\x00\x00\x00\x00", `field "a": value of 5 bytes, 4 are left`},
		{"\x0a\x00\x00\x00\x0ba\x00\x00\x00\x00", ""},
		{"\x0c\x00\x00\x00\x0ba\x00xy\x00\x00\x00", ""},
		{"\x0a\x00\x00\x00\x0ba\x00xy\x00", `field "a": the data ends before the document does`},
		{"\x0a\x00\x00\x00\x0ba\x00x\x00\x00", `field "a": the data ends before the document does`},
		{"\x0c\x00\x00\x00\x0fa\x00\x0d\x00\x00\x00\x00", `field "a": length of 13 bytes, want 14 at least`},
		{"\x19\x00\x00\x00\x0ca\x00\x01\x00\x00\x00\x00ABCDEFGHIJKL\x00", ""},
		{"\x18\x00\x00\x00\x0ca\x00\x01\x00\x00\x00\x00ABCDEFGHIJK\x00", `field "a": value of 17 bytes, 16 are left`},
	} {
		w := bsonwalk.New([]byte(test.doc))
		for w.Next() {
		}
		if got := fmt.Sprint(w.Err()); got != cmp.Or(test.want, "<nil>") {
			t.Errorf("%x: %s, want %q", test.doc, got, test.want)
		}
	}
}

// FuzzWalk: what the BSON library accepts must be read to its end, and what is
// read must be inside the document.
func FuzzWalk(f *testing.F) {
	for _, doc := range testenv.Documents(false) {
		if len(doc) < 1000 {
			f.Add([]byte(doc))
		}
	}
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		w := bsonwalk.New(data)
		n := 4
		for w.Next() {
			start, value, end := w.Offsets()
			if start != n || value < start+2 || end < value || end >= len(data) {
				t.Fatalf("element at %d, %d, %d after %d in %x", start, value, end, n, data)
			}
			n = end
		}
		if sound := bson.Raw(data).Validate() == nil && int(data[0])|int(data[1])<<8 == len(data); sound && w.Err() != nil {
			t.Errorf("%x: %v", data, w.Err())
		}
	})
}
