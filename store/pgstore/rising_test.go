package pgstore

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// TestRising: only documents whose keys are certain and in order are sent before all are
// prepared.
func TestRising(t *testing.T) {
	doc := func(name string, id any) any {
		raw, err := bson.Marshal(bson.D{{Key: name, Value: id}, {Key: "n", Value: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return bson.Raw(raw)
	}
	first, second := objectid.ID{11: 1}, objectid.ID{10: 1}
	for name, test := range map[string]struct {
		docs []any
		want bool
	}{
		"rising":       {[]any{doc("_id", first), doc("_id", second)}, true},
		"falling":      {[]any{doc("_id", second), doc("_id", first)}, false},
		"equal":        {[]any{doc("_id", first), doc("_id", first)}, false},
		"other key":    {[]any{doc("_id", first), doc("_id", int32(1))}, false},
		"other field":  {[]any{doc("_ie", first), doc("_id", second)}, false},
		"no BSON":      {[]any{doc("_id", first), bson.D{{Key: "_id", Value: second}}}, false},
		"cut off":      {[]any{doc("_id", first), doc("_id", second).(bson.Raw)[:20]}, false},
		"shortest":     {[]any{doc("_id", first), doc("_id", second).(bson.Raw)[:21]}, true}, // it is refused later
		"nothing, nil": {[]any{bson.Raw(nil), nil}, false},
	} {
		if got := rising(test.docs); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
