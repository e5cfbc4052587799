package frameworks

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/uptrace/bun"
	"gorm.io/gorm"
	"xorm.io/xorm"

	"github.com/oidkit/oid/objectid"
)

// Order is a document of GORM.
type Order struct {
	ID     objectid.ID  `gorm:"primaryKey;size:12;not null"` // blob, bytea or varbinary(12)
	Text   objectid.Hex `gorm:"size:24;index"`               // text or varchar(24)
	Parent *objectid.ID `gorm:"size:12"`                     // NULL if nil; so is a zero ID
}

// BeforeCreate gives an order an id.
func (o *Order) BeforeCreate(*gorm.DB) error {
	if o.ID.IsZero() {
		o.ID = objectid.New()
	}
	return nil
}

func gormFind(db *gorm.DB, id objectid.ID) (Order, error) {
	var order Order
	err := db.First(&order, "id = ?", id).Error // not db.First(&order, id)
	return order, err
}

func sqlxFind(db *sqlx.DB) ([]Order, error) {
	lastDay, args := objectid.Since(time.Now().AddDate(0, 0, -1)).SQL("id", 0)
	var orders []Order
	err := db.Select(&orders, db.Rebind("SELECT * FROM orders WHERE "+lastDay), args...)
	return orders, err
}

// bunOrder is a document of bun on PostgreSQL.
type bunOrder struct {
	bun.BaseModel `bun:"orders"`

	ID     objectid.ID  `bun:",pk,type:bytea"` // or type:binary(12), type:blob
	Text   objectid.Hex `bun:"type:char(24)"`
	Parent *objectid.ID `bun:"type:bytea"`
}

func bunFind(ctx context.Context, db *bun.DB, ids []objectid.ID) ([]bunOrder, error) {
	var orders []bunOrder
	err := db.NewSelect().Model(&orders).Where("id IN (?)", bun.List(ids)).Scan(ctx)
	return orders, err
}

// xormOrder is a document of xorm.
type xormOrder struct {
	ID     objectid.ID  `xorm:"'id' pk BINARY(12)"` // BLOB, BYTEA or BINARY(12)
	Text   objectid.Hex `xorm:"'text' CHAR(24)"`
	Parent *objectid.ID `xorm:"'parent' BINARY(12)"`
}

func xormFind(db *xorm.Engine, id objectid.ID) (xormOrder, bool, error) {
	var order xormOrder
	found, err := db.Table("orders").Where("id = ?", id).Get(&order) // not db.ID(id)
	return order, found, err
}
