package engine_test

import (
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// element returns a document with an _id and an element a of the given type.
func element(typ byte, value ...byte) bson.Raw {
	doc := slices.Concat([]byte{0, 0, 0, 0, 0x10, '_', 'i', 'd', 0, 1, 0, 0, 0, typ, 'a', 0}, value, []byte{0})
	doc[0], doc[1] = byte(len(doc)), byte(len(doc)>>8)
	return doc
}

// nested returns a document with the given number of levels, which are documents, arrays or
// the scopes of code.
func nested(t *testing.T, levels int, wrap func(bson.D) any) bson.Raw {
	t.Helper()
	doc := bson.D{{Key: "d", Value: 1}}
	for range levels - 2 {
		doc = bson.D{{Key: "d", Value: wrap(doc)}}
	}
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: 1}, {Key: "d", Value: wrap(doc)}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestBordersOfValidity tests documents that are just valid, and others that are just invalid.
func TestBordersOfValidity(t *testing.T) {
	for name, test := range map[string]struct {
		doc bson.Raw
		ok  bool
	}{
		"boolean 1":            {element(8, 1), true},
		"boolean 2":            {element(8, 2), false},
		"binary":               {element(5, 2, 0, 0, 0, 0, 9, 9), true},
		"old binary":           {element(5, 6, 0, 0, 0, 2, 2, 0, 0, 0, 9, 9), true},
		"old binary, empty":    {element(5, 4, 0, 0, 0, 2, 0, 0, 0, 0), true},
		"old binary, short":    {element(5, 3, 0, 0, 0, 2, 0, 0, 0), false},
		"old binary, too long": {element(5, 6, 0, 0, 0, 2, 3, 0, 0, 0, 9, 9), false},
		"other binary":         {element(5, 6, 0, 0, 0, 3, 3, 0, 0, 0, 9, 9), true},
		"regex":                {element(11, 'x', 0, 'i', 0), true},
		"regex, not UTF-8":     {element(11, 0xFF, 0, 'i', 0), false},
		"pointer":              {element(12, 2, 0, 0, 0, 'x', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2), true},
		"pointer, no end":      {element(12, 2, 0, 0, 0, 'x', 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2), false},
		"code":                 {element(15, 15, 0, 0, 0, 2, 0, 0, 0, 'x', 0, 5, 0, 0, 0, 0), true},
		"code, no end":         {element(15, 15, 0, 0, 0, 2, 0, 0, 0, 'x', 1, 5, 0, 0, 0, 0), false},
		"code, long scope":     {element(15, 16, 0, 0, 0, 2, 0, 0, 0, 'x', 0, 5, 0, 0, 0, 0, 0), false},
		"code, long string":    {element(15, 15, 0, 0, 0, 99, 0, 0, 0, 'x', 0, 5, 0, 0, 0, 0), false},
		"documents":            {nested(t, store.MaxDepth, func(d bson.D) any { return d }), true},
		"documents, too deep":  {nested(t, store.MaxDepth+1, func(d bson.D) any { return d }), false},
		"arrays":               {nested(t, store.MaxDepth/2, func(d bson.D) any { return bson.A{d} }), true},
		"arrays, too deep":     {nested(t, store.MaxDepth/2+2, func(d bson.D) any { return bson.A{d} }), false},
		"scopes":               {nested(t, store.MaxDepth, func(d bson.D) any { return bson.CodeWithScope{Code: "x", Scope: d} }), true},
		"scopes, too deep":     {nested(t, store.MaxDepth+1, func(d bson.D) any { return bson.CodeWithScope{Code: "x", Scope: d} }), false},
	} {
		if _, _, err := engine.Replacement(test.doc); (err == nil) != test.ok || err != nil && !errors.Is(err, store.ErrDocument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkReplacement(b *testing.B) {
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: 1}, {Key: "name", Value: "x"}, {Key: "price", Value: 1.5}, {Key: "tags", Value: bson.A{"a", "b"}}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := engine.Replacement(bson.Raw(doc)); err != nil {
			b.Fatal(err)
		}
	}
}
