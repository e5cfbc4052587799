package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"time"

	"github.com/oidkit/oid/objectid"
)

// day is the first moment of a day in November 2026.
func day(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }

// createdOn returns an id that was created at noon of day n.
func createdOn(n int) objectid.ID {
	g, err := objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return day(n).Add(12 * time.Hour) }})
	if err != nil {
		log.Fatal(err)
	}
	return g.New()
}

// ownTable creates an ordinary SQL table with five orders of 1 to 5 November. The examples
// run on SQLite; the same statements work on PostgreSQL.
func ownTable(keyType string, key func(objectid.ID) any) *sql.DB {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1) // otherwise each connection would have a database of its own
	if _, err := db.Exec("CREATE TABLE orders (id " + keyType + " PRIMARY KEY, item TEXT NOT NULL)"); err != nil {
		log.Fatal(err)
	}
	for n, item := range []string{"apples", "bread", "cheese", "dates", "eggs"} {
		if _, err := db.Exec("INSERT INTO orders VALUES ($1, $2)", key(createdOn(n+1)), item); err != nil {
			log.Fatal(err)
		}
	}
	return db
}

// list runs a query, and prints the day of each id and the item. It returns the last id and
// the number of rows.
func list(db *sql.DB, query string, args ...any) (last objectid.ID, n int) {
	rows, err := db.QueryContext(context.Background(), query, args...)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var item string
		if err := rows.Scan(&last, &item); err != nil {
			log.Fatal(err)
		}
		fmt.Println(last.Time().Format(time.DateOnly), item)
		n++
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	return last, n
}

// Use an ObjectId as a BYTEA or BLOB key in a table of your own. The key takes 12 bytes, and the
// rows of a time range are a range of keys.
func Example_ownTableWithBytes() {
	db := ownTable("BYTEA", func(id objectid.ID) any { return id })
	defer db.Close()
	where, args := objectid.Between(day(2), day(4)).SQL("id", 1)
	fmt.Println(where)
	list(db, "SELECT id, item FROM orders WHERE "+where+" ORDER BY id", args...)
	// Output:
	// id >= $1 AND id < $2
	// 2026-11-02 bread
	// 2026-11-03 cheese
}

// Use an ObjectId as a TEXT or CHAR(24) key. The key is the 24 digits of the id, which have the
// same order as the ids.
func Example_ownTableWithText() {
	db := ownTable("TEXT", func(id objectid.ID) any { return objectid.Hex{ID: id} })
	defer db.Close()
	where, args := objectid.Since(day(4)).SQLHex("id", 1)
	list(db, "SELECT id, item FROM orders WHERE "+where+" ORDER BY id", args...)
	// Output:
	// 2026-11-04 dates
	// 2026-11-05 eggs
}

// Delete all rows that are older than a time, with one range of the key.
func Example_ownTableDeleteOld() {
	db := ownTable("BYTEA", func(id objectid.ID) any { return id })
	defer db.Close()
	where, args := objectid.Until(day(4)).SQL("id", 1)
	result, err := db.Exec("DELETE FROM orders WHERE "+where, args...)
	if err != nil {
		log.Fatal(err)
	}
	n, err := result.RowsAffected()
	fmt.Println(n, err)
	list(db, "SELECT id, item FROM orders ORDER BY id")
	// Output:
	// 3 <nil>
	// 2026-11-04 dates
	// 2026-11-05 eggs
}

// Keyset pagination: each page begins after the last key of the page before; the first begins after
// the zero ID. Unlike OFFSET, every page costs the same, and inserting or deleting rows
// meanwhile does not move other rows to another page.
func Example_ownTablePages() {
	db := ownTable("BYTEA", func(id objectid.ID) any { return id })
	defer db.Close()
	const size = 2
	var after objectid.ID
	for page := 1; ; page++ {
		fmt.Println("page", page)
		last, n := list(db, "SELECT id, item FROM orders WHERE id > $1 ORDER BY id LIMIT $2", after[:], size)
		if n < size {
			break
		}
		after = last
	}
	// Output:
	// page 1
	// 2026-11-01 apples
	// 2026-11-02 bread
	// page 2
	// 2026-11-03 cheese
	// 2026-11-04 dates
	// page 3
	// 2026-11-05 eggs
}
