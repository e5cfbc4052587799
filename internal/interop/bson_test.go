// Package interop tests objectid together with the libraries that it is made to
// work with and does not import.
package interop

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

type document struct {
	ID   objectid.ID            `bson:"_id,omitempty"`
	Ref  objectid.ID            `bson:"ref"`
	Ptr  *objectid.ID           `bson:"ptr"`
	List []objectid.ID          `bson:"list,omitempty"`
	By   map[string]objectid.ID `bson:"by,omitempty"`
	Hex  objectid.Hex           `bson:"hex,omitempty"`
}

// driverDocument is document as somebody writes it who knows the driver only.
type driverDocument struct {
	ID   bson.ObjectID            `bson:"_id"`
	Ref  bson.ObjectID            `bson:"ref"`
	Ptr  *bson.ObjectID           `bson:"ptr"`
	List []bson.ObjectID          `bson:"list"`
	By   map[string]bson.ObjectID `bson:"by"`
	Hex  bson.ObjectID            `bson:"hex"`
}

func TestBSONIsTheDriversOwn(t *testing.T) {
	id, other := objectid.New(), objectid.New()
	ours := document{id, other, &id, []objectid.ID{other, id}, map[string]objectid.ID{"x": id}, objectid.Hex{ID: id}}
	d, o := bson.ObjectID(id), bson.ObjectID(other)
	theirs := driverDocument{d, o, &d, []bson.ObjectID{o, d}, map[string]bson.ObjectID{"x": d}, d}

	ourBytes := testenv.Must(bson.Marshal(ours))(t)
	theirBytes := testenv.Must(bson.Marshal(theirs))(t)
	if !bytes.Equal(ourBytes, theirBytes) {
		t.Errorf("we write\n%v\nthe driver writes\n%v", bson.Raw(ourBytes), bson.Raw(theirBytes))
	}
	var back document
	if err := bson.Unmarshal(theirBytes, &back); err != nil || !reflect.DeepEqual(back, ours) {
		t.Errorf("read back as %v, %v", back, err)
	}
	var loose bson.M
	if err := bson.Unmarshal(ourBytes, &loose); err != nil || objectid.ID(loose["_id"].(bson.ObjectID)) != id {
		t.Errorf("read into a map as %v, %v", loose, err)
	}
	if d.Timestamp() != id.Time() || d.Hex() != id.String() {
		t.Errorf("the driver reads %v of %v", d.Timestamp(), d.Hex())
	}
}

func TestBSONWithoutID(t *testing.T) {
	b := testenv.Must(bson.Marshal(document{}))(t)
	want, _ := bson.Marshal(bson.D{{Key: "ref", Value: nil}, {Key: "ptr", Value: nil}})
	if !bytes.Equal(b, want) {
		t.Errorf("a document of zero ids is %v, want %v", bson.Raw(b), bson.Raw(want))
	}
	full := objectid.New()
	back := document{ID: full, Ref: full, Ptr: &full}
	if err := bson.Unmarshal(want, &back); err != nil || back.ID != full || !back.Ref.IsZero() || back.Ptr != nil {
		t.Errorf("null was read as %v, %v", back, err)
	}
}

func TestBSONOfOtherTypesIsRefused(t *testing.T) {
	id := objectid.New()
	for _, value := range []any{
		"hello w",   // 12 bytes of BSON
		id.String(), // text, not an ObjectId
		bson.Binary{Data: []byte("hello w")},
		bson.Binary{Data: id[:]},
		int32(1), int64(1), 1.5, true, time.Now(),
		bson.D{},
		bson.A{id},
		bson.Undefined{},
		bson.MinKey{},
		bson.MaxKey{},
		bson.Decimal128{},
		bson.Timestamp{},
		bson.Regex{Pattern: "hello"},
		bson.JavaScript("hello w"), bson.Symbol("hello w"),
		bson.DBPointer{DB: "x", Pointer: bson.ObjectID(id)},
	} {
		b := testenv.Must(bson.Marshal(bson.D{{Key: "_id", Value: value}}))(t)
		back := document{ID: id}
		if err := bson.Unmarshal(b, &back); !errors.Is(err, objectid.ErrInvalid) || back.ID != id {
			t.Errorf("%T %v: %v, left %v", value, value, err, back.ID)
		}
	}
}

func TestExtendedJSON(t *testing.T) {
	id := objectid.New()
	b, err := bson.MarshalExtJSON(bson.M{"_id": id}, false, false)
	if want := `{"_id":{"$oid":"` + id.String() + `"}}`; err != nil || string(b) != want {
		t.Errorf("Extended JSON is %s, %v, want %s", b, err, want)
	}
	var back document
	if err := bson.UnmarshalExtJSON(b, true, &back); err != nil || back.ID != id {
		t.Errorf("read back as %v, %v", back, err)
	}
}

func TestFilterIsAQuery(t *testing.T) {
	extended := query.Languages[slices.IndexFunc(query.Languages, func(f query.Language) bool { return f.Name == "json" })]
	r := objectid.Between(time.Unix(1_800_000_000, 0), time.Unix(1_800_000_060, 0))
	for _, r := range []objectid.Range{r, {From: r.From}, {To: r.To}, {}} {
		// The order of $gte and $lt means nothing: that of the map is random.
		var fromMap, fromText map[string]map[string]objectid.ID
		b := testenv.Must(bson.Marshal(r.Filter()))(t)
		testenv.NoError(t, bson.Unmarshal(b, &fromMap))
		testenv.NoError(t, bson.UnmarshalExtJSON([]byte(extended.Write(r, "", "")), true, &fromText))
		if !reflect.DeepEqual(fromMap, fromText) {
			t.Errorf("Filter is %v, Extended JSON %v", fromMap, fromText)
		}
	}
}

func FuzzBSON(f *testing.F) {
	b, _ := bson.Marshal(document{ID: objectid.New(), Ref: objectid.New()})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var ours document
		var theirs struct {
			Ref bson.RawValue `bson:"ref"`
		}
		if bson.Unmarshal(b, &ours) != nil || bson.Unmarshal(b, &theirs) != nil || ours.Ref.IsZero() {
			return
		}
		if id, ok := theirs.Ref.ObjectIDOK(); !ok || objectid.ID(id) != ours.Ref {
			t.Fatalf("%v was read as %v", theirs.Ref, ours.Ref)
		}
	})
}
