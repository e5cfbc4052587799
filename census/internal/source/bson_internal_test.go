package source

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// driverText returns a value as MongoDB's driver writes it in relaxed Extended JSON.
func driverText(t *testing.T, v bson.RawValue) string {
	t.Helper()
	text, err := bson.MarshalExtJSON(bson.D{{Key: "", Value: v}}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(text), `{"":`), "}")
}

func encoded(t *testing.T, v any) (bson.Type, []byte) {
	t.Helper()
	typ, data, err := bson.MarshalValue(v)
	if err != nil {
		t.Fatal(err)
	}
	return typ, data
}

func shownAs(typ bson.Type, data []byte) string {
	return string(value{typ: byte(typ), data: data}.shown())
}

// A value of BSON is shown as MongoDB's driver writes it. A value with a part of a rare type
// is shown in hexadecimal digits.
func TestShownAsTheDriver(t *testing.T) {
	id := bson.NewObjectID()
	for _, v := range []any{
		1.5, -0.25,
		true, false,
		bson.Null{},
		int32(0), int32(math.MinInt32), int32(math.MaxInt32), int64(math.MinInt64), int64(math.MaxInt64),
		bson.DateTime(0), bson.DateTime(1), bson.DateTime(1350508407120), bson.DateTime(253402300799999),
		bson.NewDateTimeFromTime(time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)),
		bson.Timestamp{T: math.MaxUint32, I: 7},
		bson.MinKey{},
		bson.MaxKey{},
		bson.Binary{},
		bson.Binary{Subtype: 4, Data: make([]byte, 16)},
		bson.Binary{Subtype: 0x80, Data: []byte("any")},
		bson.D{},
		bson.A{},
		bson.A{bson.A{}, bson.D{{Key: "a", Value: nil}}, int32(1)},
		bson.D{{Key: "day", Value: int32(3)}, {Key: "user", Value: `al"ice`}, {Key: "", Value: bson.D{{Key: "id", Value: id}}}},
	} {
		typ, data := encoded(t, v)
		if got, want := shownAs(typ, data), driverText(t, bson.RawValue{Type: typ, Value: data}); got != want {
			t.Errorf("%T %v: shown as %s, want %s", v, v, got, want)
		}
	}
	for _, v := range []any{
		bson.A{bson.Regex{Pattern: "a"}},
		bson.D{{Key: "a", Value: bson.DBPointer{DB: "a.b", Pointer: id}}},
		bson.Symbol("s"), bson.JavaScript("f()"),
		bson.NewDecimal128(0x3040000000000000, 7),
		bson.CodeWithScope{Code: "f()", Scope: bson.D{}},
		bson.Binary{Subtype: 2, Data: []byte("any")},
	} {
		typ, data := encoded(t, v)
		if got, want := shownAs(typ, data), hex.EncodeToString(data); got != want {
			t.Errorf("%T %v: shown as %s, want %s", v, v, got, want)
		}
	}
	for v, want := range map[any]string{
		2.0: "2", 1e21: "1e+21", math.NaN(): "NaN", math.Inf(-1): "-Inf", // MongoDB compares numbers of all types
		bson.DateTime(-1): `{"$date":"1969-12-31T23:59:59.999Z"}`, bson.DateTime(math.MinInt64): `{"$date":"-292275055-05-16T16:47:04.192Z"}`,
	} {
		if typ, data := encoded(t, v); shownAs(typ, data) != want {
			t.Errorf("%v: shown as %s, want %s", v, shownAs(typ, data), want)
		}
	}
	broken := append([]byte{16, 0, 0, 0, 3, 'a', 0}, 8, 0, 0, 0, 0x55, 0, 1, 0, 0) // a member of no type
	if got, want := shownAs(bson.TypeEmbeddedDocument, broken), hex.EncodeToString(broken); got != want {
		t.Errorf("a broken document is shown as %s, want %s", got, want)
	}
}

// Any document is shown, in Extended JSON or in hexadecimal digits.
func FuzzShown(f *testing.F) {
	for _, v := range []any{bson.D{{Key: "a", Value: bson.A{1.5, "b", bson.Binary{}, bson.MaxKey{}, bson.Timestamp{}}}}, bson.D{{Key: "", Value: bson.Regex{}}}} {
		data, err := bson.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		digits := hex.EncodeToString(data[:min(len(data), maxText/2)])
		if text := shownAs(bson.TypeEmbeddedDocument, data); text != digits && (text[0] != '{' || text[len(text)-1] != '}') {
			t.Errorf("%x is shown as %s", data, text)
		}
	})
}
