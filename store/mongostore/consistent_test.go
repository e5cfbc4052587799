package mongostore_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// TestConsistent: conditional writes and the calls of Linearizable read from the primary and
// write to a majority, even if the URL asks for less. Other calls do what the URL says.
func TestConsistent(t *testing.T) {
	m := newScripted(t)
	m.on("insert", replies(bson.E{Key: "n", Value: 1}))
	m.on("update", replies(bson.E{Key: "n", Value: 1}, bson.E{Key: "nModified", Value: 1}))
	m.on("delete", replies(bson.E{Key: "n", Value: 1}))
	m.on("find", cursor("firstBatch", 0, nil, bson.D{{Key: "_id", Value: int32(1)}}))
	plain := m.open("w=1&readPreference=secondaryPreferred&readConcernLevel=local")
	use := func(s store.Store) {
		t.Helper()
		if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
			t.Error(err)
		}
		if _, err := s.Get(t.Context(), "c", store.IntKey(1)); err != nil {
			t.Error(err)
		}
	}
	use(plain)
	use(store.Linearizable(plain))
	use(store.Linearizable(store.Linearizable(plain)))
	for i, c := range m.got("insert") {
		if w := c.Lookup("writeConcern", "w").String(); (w == `"majority"`) != (i > 0) {
			t.Errorf("insert %d has write concern %s", i, w)
		}
	}
	for i, c := range m.got("find") {
		if key, ok := c.Lookup("filter", "_id").AsInt64OK(); !ok || key != 1 {
			t.Errorf("find %d asks for %v, want the key alone: FerretDB reads a collection for more", i, c.Lookup("filter"))
		}
		primary := c.Lookup("$readPreference", "mode").String() != `"secondaryPreferred"`
		if majority := c.Lookup("readConcern", "level").String() == `"majority"`; majority != (i > 0) || primary != (i > 0) {
			t.Errorf("find %d is %v", i, c)
		}
	}
	old, err := bson.Marshal(bson.D{{Key: "_id", Value: 1}, {Key: store.Revision, Value: objectid.New()}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Swap(t.Context(), "c", old, bson.Raw(old)); err != nil {
		t.Error(err)
	}
	if _, err := plain.SwapMany(t.Context(), "c", []store.Swap{{Old: old}}); err != nil {
		t.Error(err)
	}
	for _, c := range append(m.got("update"), m.got("delete")...) {
		if w := c.Lookup("writeConcern", "w").String(); w != `"majority"` {
			t.Errorf("%v has write concern %s, want a majority", c, w)
		}
	}
}
