package mongostore

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// bracket is one of the types that a key can have. MongoDB compares a bound with
// values of its own type only, so a range over several is a condition for each.
type bracket struct {
	name  string    // for $type
	least store.Key // no key of the bracket is smaller; zero for numbers
}

// brackets are in the order of their keys.
var brackets = func() []bracket {
	empty, err := store.String("")
	if err != nil {
		panic(err)
	}
	return []bracket{
		{name: "number"},
		{name: "string", least: empty},
		{name: "objectId", least: store.ID(objectid.ID{})},
	}
}()

// bracketOf returns the place in brackets of a key.
func bracketOf(key store.Key) int {
	place := 0
	for i, b := range brackets {
		if key.Compare(b.least) >= 0 {
			place = i
		}
	}
	return place
}

// filter returns r as a query. The lower bound is left out of r if open is true.
// The zero Range is every document, whatever its _id; any other range is keys
// only.
func filter(r store.Range, open bool) bson.D { return filterOf("_id", r, open) }

// filterOf is filter for keys that are in another field.
func filterOf(field string, r store.Range, open bool) bson.D {
	if r == (store.Range{}) {
		return bson.D{}
	}
	first, last := 0, len(brackets)-1
	if !r.From.IsZero() {
		first = bracketOf(r.From)
	}
	if !r.To.IsZero() {
		last = bracketOf(r.To)
	}
	var any bson.A
	for i := first; i <= last; i++ {
		var bounds bson.D
		if i == first && !r.From.IsZero() {
			operator := "$gte"
			if open {
				operator = "$gt"
			}
			bounds = append(bounds, bson.E{Key: operator, Value: r.From})
		}
		if i == last && !r.To.IsZero() {
			bounds = append(bounds, bson.E{Key: "$lt", Value: r.To})
		}
		if bounds == nil {
			bounds = bson.D{{Key: "$type", Value: brackets[i].name}}
		}
		any = append(any, bson.D{{Key: field, Value: bounds}})
	}
	if len(any) == 1 {
		return any[0].(bson.D)
	}
	return bson.D{{Key: "$or", Value: any}}
}
