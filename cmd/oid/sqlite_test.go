package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
)

// The view and the expressions for SQLite are right, for text and for blobs, also where the
// names have quotes in them.
func TestSQLView(t *testing.T) {
	for _, c := range []struct{ table, column string }{{"orders", "_id"}, {`a "COLUMN" of TABLE`, "b\"\n--"}} {
		db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "s.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		exec := func(statement string, args ...any) {
			t.Helper()
			if _, err := db.Exec(statement, args...); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		quoted, column := `"`+doubled(c.table)+`"`, `"`+doubled(c.column)+`"`
		view := `"` + doubled(c.table) + `_objectid"`
		exec("CREATE TABLE " + quoted + " (" + column + " PRIMARY KEY, n)")
		statements := functionsFor(t, "sqlite", "--table", c.table, "--column", c.column)
		exec(statements + statements)

		var want []string
		insert := func(key any, expected string) {
			exec("INSERT INTO "+quoted+" VALUES (?, ?)", key, len(want))
			want = append(want, expected)
		}
		for _, hex := range sqlIDs {
			id := objectid.MustParse(hex)
			row := fmt.Sprintf("%s %s %d %s", id.Time().Format(time.DateTime), hex[8:18], int(id[9])<<16|int(id[10])<<8|int(id[11]), hex)
			insert(hex, row)
			insert(id[:], row)
			if upper := strings.ToUpper(hex); upper != hex {
				insert(upper, row)
			}
		}
		for _, text := range notObjectIDs {
			insert(text, "NULL")
			insert([]byte(text), "NULL")
		}
		insert([]byte("507f1f77bcf86cd799439011"), "NULL")
		insert("twelve bytes", "NULL")
		insert(507, "NULL")

		rows, err := db.Query("SELECT n, coalesce(objectid_timestamp || ' ' || objectid_process || ' ' || objectid_counter || ' ' || objectid_hex, 'NULL') FROM " + view + " ORDER BY n")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		found := 0
		for ; rows.Next(); found++ {
			var n int
			var got string
			if err := rows.Scan(&n, &got); err != nil {
				t.Fatal(err)
			}
			if got != want[n] {
				t.Errorf("%s: row %d: %s, want %s", c.table, n, got, want[n])
			}
		}
		if err := rows.Err(); err != nil || found != len(want) {
			t.Errorf("%d rows of %d, %v", found, len(want), err)
		}

		for function, format := range map[string]string{"objectid_from_timestamp": "%s", "objectid_binary_from_timestamp": "lower(hex(%s))"} {
			m := regexp.MustCompile(`(?m)^-- +` + function + `: +(.*)$`).FindStringSubmatch(statements)
			if m == nil {
				t.Fatalf("no expression for %s", function)
			}
			for at, hex := range sqlBounds {
				if at < "1970" || at > "2106-02-07 06:28:16" || hex == strings.Repeat("f", 24) {
					continue
				}
				expression := strings.Replace(m[1], "TIME", "'"+at+"'", 1)
				var got string
				if err := db.QueryRow("SELECT " + fmt.Sprintf(format, expression)).Scan(&got); err != nil || got != hex {
					t.Errorf("%s: %s, %v, want %s", expression, got, err, hex)
				}
			}
			var plan [4]string
			bound := strings.Replace(m[1], "TIME", "'2026-11-01'", 1)
			if err := db.QueryRow("EXPLAIN QUERY PLAN SELECT * FROM "+view+" WHERE "+column+" >= "+bound).Scan(&plan[0], &plan[1], &plan[2], &plan[3]); err != nil || !strings.HasPrefix(plan[3], "SEARCH ") {
				t.Errorf("a range of %s does not use the index: %q, %v", column, plan[3], err)
			}
		}
	}
}
