package others

import (
	"database/sql"
	"fmt"
	"log"

	"github.com/jinzhu/gorm"

	"github.com/oidkit/oid/objectid"
)

type Order1 struct {
	ID     objectid.ID `gorm:"primary_key;type:binary(12);not null"`
	UserID objectid.ID `gorm:"type:binary(12)"`
	Item   string
}

func (Order1) BeforeCreate(scope *gorm.Scope) error {
	if !scope.PrimaryKeyZero() {
		return nil
	}
	return scope.SetColumn("ID", objectid.New())
}

// GORM 1 stores ids, and finds rows by them.
func Example_gorm1() {
	connection, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	connection.SetMaxOpenConns(1)
	db, err := gorm.Open("sqlite3", connection)
	if err != nil {
		log.Fatal(err)
	}
	db.AutoMigrate(&Order1{})
	order := Order1{UserID: objectid.New(), Item: "tea"}
	if err := db.FirstOrCreate(&order, Order1{UserID: order.UserID}).Error; err != nil {
		log.Fatal(err)
	}
	var found []Order1
	if err := db.Where("id in (?)", []objectid.ID{order.ID}).Where(Order1{UserID: order.UserID}).Find(&found).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println(found[0] == order, order.ID.IsZero())
	// Output: true false
}
