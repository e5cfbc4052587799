package interop

import (
	"encoding/json"
	"testing"

	"github.com/spf13/pflag"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

func TestFlagOfPflag(t *testing.T) {
	id, want := objectid.ID{}, objectid.New()
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Var(&id, "id", "the id")
	if err := f.Parse([]string{"--id", want.String()}); err != nil || id != want {
		t.Errorf("%v, %v, want %v", id, err, want)
	}
	if err := f.Parse([]string{"--id", "x"}); err == nil || id != want {
		t.Errorf("a bad flag: %v, %v", id, err)
	}
}

// BSONString is in BSON what a program has that keeps ids as strings.
func TestStringsInBSON(t *testing.T) {
	type ours struct {
		Ref, None objectid.BSONString
		Old       objectid.BSONString
		Text      objectid.Optional
	}
	type theirs struct {
		Ref, None string
		Old       bson.ObjectID
		Text      bson.ObjectID
	}
	id := objectid.New()
	raw, err := bson.Marshal(ours{Ref: objectid.BSONString{ID: id}, Text: objectid.Optional{ID: id}})
	if err != nil {
		t.Fatal(err)
	}
	var read theirs
	if err := bson.Unmarshal(raw, &read); err != nil || read.Ref != id.String() || read.None != "" || objectid.ID(read.Text) != id {
		t.Errorf("the driver reads %+v, %v", read, err)
	}
	if raw, err = bson.Marshal(theirs{Ref: id.String(), None: objectid.ID{}.String(), Old: bson.ObjectID(id), Text: bson.ObjectID(id)}); err != nil {
		t.Fatal(err)
	}
	var back ours
	if err := bson.Unmarshal(raw, &back); err != nil || back.Ref.ID != id || back.Old.ID != id || back.Text.ID != id {
		t.Errorf("read back %+v, %v", back, err)
	}
}

// Optional reads what the driver's ObjectID reads from JSON.
func TestEmptyStringInJSON(t *testing.T) {
	for _, text := range []string{`""`, "null", `"507f1f77bcf86cd799439011"`, `{"$oid":"507f1f77bcf86cd799439011"}`} {
		var ours objectid.Optional
		var theirs bson.ObjectID
		if err := json.Unmarshal([]byte(text), &theirs); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &ours); err != nil || ours.ID != objectid.ID(theirs) {
			t.Errorf("%s: %v, %v, the driver reads %v", text, ours, err, theirs)
		}
	}
}
