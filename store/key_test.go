package store_test

import (
	"errors"
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

func TestParseKey(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"507F1F77BCF86CD799439011", "507f1f77bcf86cd799439011"},
		{`{"$oid":"507f1f77bcf86cd799439011"}`, "507f1f77bcf86cd799439011"},
		{`{"$oid":"000000000000000000000000"}`, "000000000000000000000000"},
		{"7", "7"},
		{"-0", "0"},
		{"7.0", "7"},
		{"1e3", "1000"},
		{"0.5", "0.5"},
		{"-1234.56789", "-1234.56789"},
		{"1e19", "1e+19"},
		{`{"$numberDouble":"Infinity"}`, `{"$numberDouble":"Infinity"}`},
		{"1e300", "1e+300"},
		{"9223372036854775807", "9223372036854775807"},
		{`{"$numberLong":"7"}`, "7"},
		{`{"$numberDouble":"-Infinity"}`, `{"$numberDouble":"-Infinity"}`},
		{`"a<b"`, `"a<b"`},
		{`""`, `""`},
		{`"507f1f77bcf86cd799439011"`, `"507f1f77bcf86cd799439011"`},
		{`"q\"\u0000\n"`, `"q\"\u0000\n"`},
	} {
		key, err := store.ParseKey(test.in)
		if err != nil || key.String() != test.want {
			t.Errorf("ParseKey(%s) = %s, %v, want %s", test.in, key, err, test.want)
			continue
		}
		if again, err := store.ParseKey(key.String()); again != key || err != nil {
			t.Errorf("ParseKey(%s) = %#v, %v, want %#v", key, again, err, key)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	for _, in := range []string{
		"", "alice", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g", `"a`, "true", "null", "[1]", "{}",
		`5,"x":1`, `5}`, "5 6", `{"$oid":"xyz"}`, `{"$date":"2020-01-01T00:00:00Z"}`, `{"$numberDecimal":"1"}`, `{"$numberDouble":"NaN"}`, "NaN", "'a'",
	} {
		if key, err := store.ParseKey(in); !errors.Is(err, store.ErrKey) || !key.IsZero() {
			t.Errorf("ParseKey(%q) = %v, %v, want ErrKey", in, key, err)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"7", "-0.5", `"a"`, "507f1f77bcf86cd799439011", `{"$numberDouble":"Infinity"}`, `5,"x":1`, "1e400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := store.ParseKey(s)
		if err != nil {
			if !errors.Is(err, store.ErrKey) {
				t.Errorf("ParseKey(%q): %v, want ErrKey", s, err)
			}
			return
		}
		if again, err := store.ParseKey(key.String()); again != key || err != nil {
			t.Errorf("ParseKey(%q) is %v, which reads back as %v, %v", s, key, again, err)
		}
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: key}})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := store.KeyOf(doc); again != key || err != nil {
			t.Errorf("key %v is stored as %v, %v", key, again, err)
		}
	})
}

func TestKeyValues(t *testing.T) {
	id := objectid.New()
	if key, err := store.FloatKey(math.NaN()); !errors.Is(err, store.ErrKey) {
		t.Errorf("FloatKey(NaN) = %v, %v, want ErrKey", key, err)
	}
	if key, err := store.StringKey("\xff"); !errors.Is(err, store.ErrKey) {
		t.Errorf("Text of bytes that are not UTF-8 = %v, %v, want ErrKey", key, err)
	}
	if key, err := store.FloatKey(2); key != store.IntKey(2) || err != nil {
		t.Errorf("FloatKey(2) = %v, %v, want IntKey(2)", key, err)
	}
	if key, err := store.FloatKey(-1 << 63); key != store.IntKey(math.MinInt64) || err != nil {
		t.Errorf("FloatKey(-1<<63) = %v, %v, want the smallest IntKey", key, err)
	}
	if got, ok := store.IDKey(id).ID(); got != id || !ok {
		t.Errorf("ID = %v, %v, want %v", got, ok, id)
	}
	if _, ok := store.IntKey(1).ID(); ok {
		t.Error("a number is an ObjectId")
	}
	if got := store.IntKey(5).Value(); got != int64(5) {
		t.Errorf("Value = %#v, want int64(5)", got)
	}
	if (store.Key{}).Value() != nil || !(store.Key{}).IsZero() || store.IDKey(objectid.ID{}).IsZero() || store.IntKey(0).IsZero() {
		t.Error("only the zero Key is zero")
	}
	if got := (store.Key{}).Compare(store.Key{}); got != 0 {
		t.Errorf("the zero Key compared with itself: %d, want 0", got)
	}
}

// The _id field of a struct may be a Key.
func TestKeyInStruct(t *testing.T) {
	type document struct {
		ID store.Key `bson:"_id,omitempty"`
	}
	for _, key := range []store.Key{{}, store.IntKey(-1), store.IDKey(objectid.ID{}), store.IDKey(objectid.New())} {
		raw, err := bson.Marshal(document{key})
		if err != nil {
			t.Fatal(err)
		}
		var got document
		if err := bson.Unmarshal(raw, &got); got.ID != key || err != nil {
			t.Errorf("%v came back as %v, %v", key, got.ID, err)
		}
		if key.IsZero() != (len(raw) == 5) {
			t.Errorf("%v is written as %v", key, bson.Raw(raw))
		}
	}
	var got document
	got.ID = store.IntKey(1)
	if raw, err := bson.Marshal(bson.D{{Key: "_id", Value: store.Key{}}}); err != nil || bson.Raw(raw).Lookup("_id").Type != bson.TypeNull {
		t.Errorf("the zero Key is written as %v, %v, want null", bson.Raw(raw), err)
	} else if err := bson.Unmarshal(raw, &got); err != nil || !got.ID.IsZero() {
		t.Errorf("null came back as %v, %v, want the zero Key", got.ID, err)
	}
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := bson.Unmarshal(raw, new(document)); !errors.Is(err, store.ErrKey) {
		t.Errorf("a boolean: %v, want ErrKey", err)
	}
}
