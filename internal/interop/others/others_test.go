// Package others tests what docs/migrate.md says of libraries that oid does not need:
// it is a module of its own, so that they are in no other go.mod.
package others

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
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

// The MongoDB driver v1 stores an ID as binary data, and a converted one as an ObjectId.
func TestDriverV1(t *testing.T) {
	id := objectid.New()
	for _, c := range []struct {
		value any
		want  byte
	}{
		{id, 0x05},
		{primitive.ObjectID(id), 0x07},
	} {
		b, err := bson.Marshal(bson.D{{Key: "_id", Value: c.value}})
		if err != nil {
			t.Fatal(err)
		}
		raw := bson.Raw(b).Lookup("_id")
		if byte(raw.Type) != c.want {
			t.Errorf("%T is stored as BSON type %v", c.value, raw.Type)
		}
		if c.want == 0x07 && (!bytes.Equal(raw.Value, id.Bytes()) || objectid.ID(raw.ObjectID()) != id) {
			t.Errorf("%v is stored as %v", id, raw)
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
