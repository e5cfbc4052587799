package mongostore_test

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

func documents(keys ...any) []any {
	var docs []any
	for _, key := range keys {
		docs = append(docs, bson.D{{Key: "_id", Value: key}})
	}
	return docs
}

// TestFindResumesLostCursor: if the server drops the cursor, Find and FindAfter continue with
// another one after the last _id, whatever its type is, up to the limit of the query.
func TestFindResumesLostCursor(t *testing.T) {
	uuid := bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte("0123456789abcdef")}
	begin := bson.RawValue{Type: bson.TypeBoolean, Value: []byte{0}}
	for _, last := range []any{int32(2), uuid, bson.NewDateTimeFromTime(time.Unix(0, 0)), bson.Timestamp{T: 1}, nil, bson.D{{Key: "a", Value: 1}}} {
		for _, order := range []struct {
			isDescending bool
			operator     string
		}{{false, "$gt"}, {true, "$lt"}} {
			for name, find := range map[string]func(s *mongostore.Store, q store.Query) iter.Seq2[bson.Raw, error]{
				"Find": func(s *mongostore.Store, q store.Query) iter.Seq2[bson.Raw, error] {
					return s.Find(t.Context(), "c", q)
				},
				"FindAfter": func(s *mongostore.Store, q store.Query) iter.Seq2[bson.Raw, error] {
					return s.FindAfter(t.Context(), "c", begin, q)
				},
			} {
				m := newScripted(t)
				m.on("find", cursor("firstBatch", 77, nil, documents(1, last)...), cursor("firstBatch", 0, nil, documents(3)...))
				m.on("getMore", fails(43))
				n := 0
				for doc, err := range find(m.open(""), store.Query{Limit: 3, Descending: order.isDescending}) {
					if err != nil {
						t.Fatal(name, err)
					}
					clear(doc[4:]) // the caller owns it
					n++
				}
				second := m.got("find")[1]
				if limit := second.Lookup("limit").AsInt64(); n != 3 || limit != 1 {
					t.Errorf("%s found %d and asked for %d more, want 3 and 1", name, n, limit)
				}
				conditions, _ := second.Lookup("filter", "$or").Array().Values()
				_, want, _ := bson.MarshalValue(last)
				if got := conditions[len(conditions)-1].Document().Lookup("_id", order.operator); !bytes.Equal(got.Value, want) {
					t.Errorf("%s read on with %v, want what is after %v", name, second.Lookup("filter"), last)
				}
			}
		}
	}
	// The types after a UUID, and before it.
	for isDescending, want := range map[bool]string{false: "objectId bool date timestamp", true: "null number string object"} {
		m := newScripted(t)
		m.on("find", cursor("firstBatch", 0, nil))
		_, value, _ := bson.MarshalValue(uuid)
		for _, err := range m.open("").FindAfter(t.Context(), "c", bson.RawValue{Type: bson.TypeBinary, Value: value}, store.Query{Descending: isDescending}) {
			t.Fatal(err)
		}
		conditions, _ := m.got("find")[0].Lookup("filter", "$or").Array().Values()
		var got []string
		for _, c := range conditions[:len(conditions)-1] {
			got = append(got, c.Document().Lookup("_id", "$type").StringValue())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("types %q, want %s", got, want)
		}
	}
	// A view may leave out the _id: nothing says where to continue.
	m := newScripted(t)
	m.on("find", cursor("firstBatch", 77, nil, bson.D{{Key: "x", Value: 1}}))
	m.on("getMore", fails(43))
	n, failed := 0, error(nil)
	for _, err := range m.open("").Find(t.Context(), "c", store.Query{}) {
		if failed = err; err == nil {
			n++
		}
	}
	if n != 1 || failed == nil || !strings.Contains(failed.Error(), "continue reading collection c") {
		t.Errorf("%d documents without an _id, %v", n, failed)
	}
}

// TestReadable lists a view, from which a program can only read.
func TestReadable(t *testing.T) {
	m := newScripted(t)
	m.on("listCollections", cursor("firstBatch", 0, nil,
		bson.D{{Key: "name", Value: "view"}, {Key: "type", Value: "view"}}, bson.D{{Key: "name", Value: "orders"}, {Key: "type", Value: "collection"}}))
	s := m.open("")
	if names, err := s.Readable(t.Context()); err != nil || !slices.Equal(names, []string{"orders", "view"}) {
		t.Errorf("Readable: %q, %v", names, err)
	}
	if names, err := s.Collections(t.Context()); err != nil || !slices.Equal(names, []string{"orders"}) {
		t.Errorf("Collections: %q, %v", names, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Readable(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Readable after Close: %v", err)
	}
}
