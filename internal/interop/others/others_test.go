// Package others tests what docs/migrate.md says of libraries that oid does not need:
// it is a module of its own, so that they are in no other go.mod.
package others

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	mgo "github.com/globalsign/mgo/bson"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	v2 "go.mongodb.org/mongo-driver/v2/bson"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/oidkit/oid/objectid"
)

type order struct {
	ID   objectid.ID  `gorm:"primaryKey;type:blob"`
	Text objectid.Hex `gorm:"type:text"`
	Item string
}

// GORM stores and reads ids, but finds none by an id alone: it takes an array for a list
// of keys.
func TestGORM(t *testing.T) {
	db, err := gorm.Open(sqlite.Open(filepath.Join(t.TempDir(), "orders.db")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	stored := order{ID: objectid.New(), Text: objectid.Hex{ID: objectid.New()}, Item: "tea"}
	if err := errors.Join(db.AutoMigrate(&order{}), db.Create(&stored).Error); err != nil {
		t.Fatal(err)
	}
	var found order
	if err := db.First(&found, "id = ?", stored.ID).Error; err != nil || found != stored {
		t.Errorf("by a condition: %+v, %v", found, err)
	}
	if err := db.Where("text = ?", stored.Text).First(&order{}).Error; err != nil {
		t.Errorf("by a text column: %v", err)
	}
	if err := db.First(&order{}, stored.ID).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("by an id alone: %v; docs/how-to/ids-in-sql.md says that nothing is found", err)
	}
	if err := db.First(&order{}, order{ID: stored.ID}).Error; err != nil {
		t.Errorf("by a struct: %v", err)
	}
	if err := db.Where("id IN ?", []objectid.ID{stored.ID, objectid.New()}).First(&order{}).Error; err != nil {
		t.Errorf("by a list: %v", err)
	}
}

// The MongoDB driver v1 stores a converted ID as an ObjectId, and fails for one that is not converted.
func TestDriverV1(t *testing.T) {
	id := objectid.New()
	for _, value := range []any{id, &id, objectid.ID{}, objectid.Hex{ID: id}, struct{ ID objectid.ID }{id}, []objectid.ID{id}, map[string]objectid.ID{"id": id}} {
		if b, err := bson.Marshal(bson.D{{Key: "_id", Value: value}}); err == nil || !strings.Contains(err.Error(), "docs/migrate.md") {
			t.Errorf("%T is stored as %v, %v", value, bson.Raw(b), err)
		}
	}
	b, err := bson.Marshal(bson.D{{Key: "_id", Value: primitive.ObjectID(id)}})
	if err != nil {
		t.Fatal(err)
	}
	if raw := bson.Raw(b).Lookup("_id"); raw.Type != bson.TypeObjectID || objectid.ID(raw.ObjectID()) != id {
		t.Errorf("%v is stored as %v", id, raw)
	}
}

// mgo stores a converted ID as an ObjectId, and fails for one that is not converted.
func TestMgo(t *testing.T) {
	id := objectid.New()
	for _, value := range []any{id, &id, objectid.Hex{ID: id}, objectid.ID{}, struct{ ID objectid.ID }{id}, []objectid.ID{id}} {
		if b, err := mgo.Marshal(mgo.M{"_id": value}); err == nil || !strings.Contains(err.Error(), "bson.ObjectId(id.Bytes())") {
			t.Errorf("%T is stored as %v, %v", value, bson.Raw(b), err)
		}
	}
	b, err := mgo.Marshal(mgo.M{"_id": mgo.ObjectId(id.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	if raw := bson.Raw(b).Lookup("_id"); raw.Type != bson.TypeObjectID || objectid.ID(raw.ObjectID()) != id {
		t.Errorf("%v is stored as %v", id, raw)
	}
}

// With the registry of docs/migrate.md, the driver v1 stores and reads what the driver v2 does.
func TestDriverV1Registry(t *testing.T) {
	type document struct {
		ID      objectid.ID            `bson:"_id"`
		Zero    objectid.ID            `bson:"zero"`
		Left    objectid.ID            `bson:"left,omitempty"`
		Pointer *objectid.ID           `bson:"pointer"`
		Nil     *objectid.ID           `bson:"nil"`
		List    []objectid.ID          `bson:"list"`
		Map     map[string]objectid.ID `bson:"map"`
	}
	id := objectid.New()
	stored := document{ID: id, Pointer: &id, List: []objectid.ID{id, {}}, Map: map[string]objectid.ID{"a": id}}
	b, err := encode(stored)
	if err != nil {
		t.Fatal(err)
	}
	want, err := v2.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, want) {
		t.Errorf("the driver v1 stores %v, the driver v2 %v", bson.Raw(b), v2.Raw(want))
	}
	found := document{Zero: id}
	if err := decode(b, &found); err != nil || !reflect.DeepEqual(found, stored) {
		t.Errorf("read %+v, %v; want %+v", found, err, stored)
	}
	for _, value := range []any{"Rheumatology", id.String(), primitive.Binary{Data: id.Bytes()}, int64(1)} {
		b, err := bson.Marshal(bson.D{{Key: "_id", Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		found := document{ID: id}
		if err := decode(b, &found); err == nil || found.ID != id {
			t.Errorf("%T is read as %v, %v", value, found.ID, err)
		}
	}
}

// The page names the versions that are tested here.
func TestVersionsAreNamed(t *testing.T) {
	page, err := os.ReadFile("../../../docs/migrate.md")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"gorm.io/gorm", "go.mongodb.org/mongo-driver"} {
		version := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(module) + ` (v\S+)`).FindStringSubmatch(string(mod))
		if version == nil || !strings.Contains(string(page), version[1]) {
			t.Errorf("docs/migrate.md does not name %s %v", module, version)
		}
	}
}
