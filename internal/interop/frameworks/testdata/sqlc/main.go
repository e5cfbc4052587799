package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"

	_ "github.com/glebarez/go-sqlite"
	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/objectid"

	"shop/liteorders"
	"shop/myorders"
	"shop/pgorders"
)

func main() {
	ctx := context.Background()
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	ids, hex := []objectid.ID{id, objectid.New()}, objectid.Hex{ID: id}
	schema := func(name string) string {
		text, err := os.ReadFile(name)
		check(err)
		return string(text)
	}
	if os.Args[1] == "pgx" {
		db, err := pgx.Connect(ctx, os.Args[2])
		check(err)
		_, err = db.Exec(ctx, "DROP TABLE IF EXISTS orders;"+schema("postgres.sql"))
		check(err)
		q := pgorders.New(db)
		check(q.Insert(ctx, pgorders.InsertParams{ID: id, Hex: hex}))
		one, err := q.Find(ctx, id)
		check(err)
		many, err := q.Many(ctx, ids)
		check(err)
		fmt.Println(one.ID, one.Hex, len(many))
		return
	}
	db, err := sql.Open(os.Args[1], os.Args[2])
	check(err)
	_, err = db.Exec("DROP TABLE IF EXISTS orders")
	check(err)
	if os.Args[1] == "mysql" {
		_, err = db.Exec(schema("mysql.sql"))
		check(err)
		q := myorders.New(db)
		check(q.Insert(ctx, myorders.InsertParams{ID: id, Hex: hex}))
		one, err := q.Find(ctx, id)
		check(err)
		many, err := q.Many(ctx, ids)
		check(err)
		fmt.Println(one.ID, one.Hex, len(many))
		return
	}
	_, err = db.Exec(schema("sqlite.sql"))
	check(err)
	q := liteorders.New(db)
	check(q.Insert(ctx, liteorders.InsertParams{ID: id, Hex: hex}))
	one, err := q.Find(ctx, id)
	check(err)
	many, err := q.Many(ctx, ids)
	check(err)
	fmt.Println(one.ID, one.Hex, len(many))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
