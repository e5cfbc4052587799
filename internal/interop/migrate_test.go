package interop

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rs/xid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// docs/migrate.md names every method of the types that people move from, and only
// methods that objectid.ID has.
func TestMigrateNamesEveryMethod(t *testing.T) {
	text := testenv.Must(os.ReadFile("../../docs/migrate.md"))(t)
	_, page, _ := strings.Cut(string(text), "## From bson.ObjectID")
	ofBSON, ofXID, _ := strings.Cut(page, "## From rs/xid")
	ofXID, _, _ = strings.Cut(ofXID, "## From mgo")
	for section, of := range map[string]reflect.Type{ofBSON: reflect.TypeFor[*bson.ObjectID](), ofXID: reflect.TypeFor[*xid.ID]()} {
		for method := range of.Methods() {
			if name := method.Name; !strings.Contains(section, "`"+name+"`") && !strings.Contains(section, "`"+name+",") {
				t.Errorf("docs/migrate.md does not name %v.%s", of, name)
			}
		}
	}
	for _, name := range []string{"IsZero", "String", "Time", "MarshalText", "UnmarshalText", "MarshalJSON", "UnmarshalJSON", "AppendText", "Bytes", "Compare", "Value", "Scan"} {
		if _, ok := reflect.TypeFor[*objectid.ID]().MethodByName(name); !ok {
			t.Errorf("docs/migrate.md names ID.%s, which does not exist", name)
		}
	}
}

// The conversions that the page describes.
func TestMigrateConverts(t *testing.T) {
	id := objectid.New()
	if bson.ObjectID(id).Hex() != id.String() || objectid.ID(bson.ObjectID(id)) != id {
		t.Error("bson.ObjectID")
	}
	x := xid.New()
	if got := objectid.ID(x); string(got.Bytes()) != string(x.Bytes()) || got.Time().Unix() != x.Time().Unix() {
		t.Error("xid.ID")
	}
}
