package pgstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// raws returns BSON documents that are sorted by ObjectId, so that COPY sends some of them
// while others are prepared. Each contains a text of size bytes.
func raws(t *testing.T, n, size int) []any {
	docs, text := make([]any, n), strings.Repeat("x", size)
	for i := range docs {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: objectid.ID{1, 10: byte(i >> 8), 11: byte(i)}}, {Key: "text", Value: text}, {Key: "n", Value: int32(i)}})
		if err != nil {
			t.Fatal(err)
		}
		docs[i] = bson.Raw(raw)
	}
	return docs
}

// TestInsertManyOfRisingIDs: InsertMany of sorted documents must store and refuse the same
// documents as memstore does, whichever document is the first that cannot be stored.
func TestInsertManyOfRisingIDs(t *testing.T) {
	s, other := open(t, testenv.PostgresSchema(t, testenv.PostgresURL(t))), memstore.New()
	defer other.Close()
	outcome := func(s store.Store, collection string, docs []any, taken int, ordered bool) (keys []store.Key, refused string, stored []byte) {
		if taken >= 0 {
			if _, err := s.Insert(t.Context(), collection, docs[taken]); err != nil {
				t.Fatal(err)
			}
		}
		keys, err := s.InsertMany(t.Context(), collection, docs, &store.InsertOptions{Ordered: ordered})
		e := new(store.BulkError)
		if err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		for doc, err := range s.Find(t.Context(), collection, store.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			stored = append(stored, doc...)
		}
		return keys, fmt.Sprint(e.Refused), stored
	}
	const many = 10_002 // two more than are stored at once
	for i, test := range []struct {
		n, size        int
		invalid, taken []int
	}{
		{many, 0, nil, nil},
		{many, 0, []int{7, 8, 9_000, 10_001}, nil},
		{many, 0, []int{10_001}, []int{9_999}},
		{many, 0, []int{9_999}, []int{10_001}},
		{300, 0, []int{0}, nil},
		{300, 0, []int{299}, nil},
		{300, 0, []int{5}, []int{200}},
		{300, 50_000, []int{290}, []int{5}}, // the key is refused before all is sent
	} {
		for _, ordered := range []bool{false, true} {
			docs, taken := raws(t, test.n, test.size), -1
			if test.taken != nil {
				taken = test.taken[0]
			}
			for _, place := range test.invalid {
				raw := docs[place].(bson.Raw)
				raw[len(raw)-7] = 0xFF // the type of the field n
			}
			collection := fmt.Sprint("c", i, ordered)
			keys, refused, stored := outcome(s, collection, docs, taken, ordered)
			wantKeys, wantRefused, wantStored := outcome(other, collection, docs, taken, ordered)
			if refused != wantRefused || !bytes.Equal(stored, wantStored) || !reflect.DeepEqual(keys, wantKeys) {
				t.Errorf("%+v, ordered %v: refused %.300s, want %.300s; %d bytes are stored, want %d", test, ordered, refused, wantRefused, len(stored), len(wantStored))
			}
		}
	}
	none := raws(t, 50, 0)
	for _, doc := range none {
		doc.(bson.Raw)[len(doc.(bson.Raw))-7] = 0xEE
	}
	if keys, refused, _ := outcome(s, "none", none, -1, false); len(keys) != 50 || len(refused) < 50 {
		t.Errorf("of nothing that can be stored: %v, %s", keys, refused)
	}
	if names, err := s.Collections(t.Context()); err != nil || slices.Contains(names, "none") {
		t.Errorf("collections %v, %v, want none for documents that are refused", names, err)
	}
}
