package bsonwalk_test

import (
	"bytes"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/bsonwalk"
	"github.com/oidkit/oid/store/storetest"
)

// TestWalkReadsAllTypes compares the elements with those that the BSON library
// reads.
func TestWalkReadsAllTypes(t *testing.T) {
	for _, doc := range storetest.Documents(storetest.Options{}) {
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
	for _, doc := range storetest.Documents(storetest.Options{}) {
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

// FuzzWalk: what the BSON library accepts must be read to its end, and what is
// read must be inside the document.
func FuzzWalk(f *testing.F) {
	for _, doc := range storetest.Documents(storetest.Options{}) {
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
