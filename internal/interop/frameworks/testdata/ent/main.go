package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/glebarez/go-sqlite"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/oidkit/oid/objectid"

	"shop/ent"
	"shop/ent/order"
)

func main() {
	dialects := map[string]string{"sqlite": dialect.SQLite, "pgx": dialect.Postgres, "mysql": dialect.MySQL}
	driver, err := entsql.Open(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	client := ent.NewClient(ent.Driver(entsql.OpenDB(dialects[os.Args[1]], driver.DB())))
	defer client.Close()
	ctx := context.Background()
	if err := client.Schema.Create(ctx); err != nil {
		log.Fatal(err)
	}
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	client.Order.Create().SetID(id).SetText(objectid.Hex{ID: id}).SaveX(ctx)
	second := client.Order.Create().SetParent(id).SetText(objectid.Hex{ID: id}).SaveX(ctx)
	fmt.Println(client.Order.GetX(ctx, id).Text, client.Order.GetX(ctx, second.ID).Parent)
	r := objectid.Since(second.ID.Time())
	fmt.Println(client.Order.Query().Where(order.IDGTE(r.From)).CountX(ctx), client.Order.Query().Where(order.IDIn(id, second.ID)).CountX(ctx), client.Order.Query().Where(order.ParentIsNil()).CountX(ctx))
}
