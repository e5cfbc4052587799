package others

import (
	"fmt"
	"log"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/oidkit/oid/objectid"
)

// Documents are stored, found by their id and by the time of their creation.
func Example_gorm() {
	db, err := gorm.Open(sqlite.Open(":memory:"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := gormOrders(db); err != nil {
		log.Fatal(err)
	}
	// Output: tea, 1 in the last day
}

func gormOrders(db *gorm.DB) error {
	type Order struct {
		ID   objectid.ID `gorm:"primaryKey;type:bytea;not null;check:length(id) = 12"`
		Item string
	}
	if err := db.AutoMigrate(&Order{}); err != nil {
		return err
	}
	order := Order{ID: objectid.New(), Item: "tea"}
	if err := db.Create(&order).Error; err != nil {
		return err
	}
	var found Order
	if err := db.First(&found, "id = ?", order.ID).Error; err != nil {
		return err
	}
	var lastDay []Order
	where, args := objectid.Since(time.Now().AddDate(0, 0, -1)).SQL("id", 0)
	if err := db.Where(where, args...).Find(&lastDay).Error; err != nil {
		return err
	}
	fmt.Printf("%s, %d in the last day\n", found.Item, len(lastDay))
	return nil
}
