package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// tableClient is the program of a database, with which tests write tables and count their rows.
type tableClient struct {
	t       testing.TB
	command []string // which takes SQL as its next argument, and prints only values
	url     string   // of the same database, for oid
	bytes   string   // type of a column of 12 bytes
	unhex   func(hex string) string
}

// tableClients returns the clients of all kinds of databases whose tables a census reads.
func tableClients(t *testing.T) map[string]tableClient {
	file := filepath.Join(t.TempDir(), "app.db")
	testenv.Program(t, "sqlite3", "sqlite3")
	mariadb := testenv.MariaDB(t)
	socket := ""
	for _, arg := range mariadb {
		if path, found := strings.CutPrefix(arg, "--socket="); found {
			socket = path
		}
	}
	unhex := func(hex string) string { return "x'" + hex + "'" }
	return map[string]tableClient{
		"sqlite":   {t, []string{"sqlite3", file}, "sqlite:" + file, "BLOB", unhex},
		"mysql":    {t, append(slices.Clone(mariadb), "-BNe"), "mysql://root@localhost/shop?socket=" + socket, "BINARY(12)", unhex},
		"postgres": postgresTables(t),
	}
}

// postgresTables returns the client of a new database of PostgreSQL.
func postgresTables(t *testing.T) tableClient {
	server := testenv.SharedPostgres(t)
	name := "tables_" + objectid.New().String()
	server.Exec("CREATE DATABASE " + name)
	url := strings.Replace(server.URL(), "/postgres?", "/"+name+"?", 1)
	return tableClient{t, []string{"psql", "-XAtqv", "ON_ERROR_STOP=1", url, "-c"}, url, "bytea", func(hex string) string { return `'\x` + hex + "'" }}
}

// sql runs statements and returns what they print.
func (c tableClient) sql(statements string) string {
	c.t.Helper()
	cmd := exec.Command(c.command[0], append(slices.Clone(c.command[1:]), statements)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v: %s", statements, err, out)
	}
	return strings.TrimSpace(string(out))
}

// count returns the number that a query prints.
func (c tableClient) count(query string) int64 {
	c.t.Helper()
	return testenv.Must(strconv.ParseInt(c.sql(query), 10, 64))(c.t)
}

const (
	firstID  = "6592008029c8c3e4dc762501"
	secondID = "6592008029c8c3e4dc762502"
)

// TestCensusOfTable reads tables that the clients of the databases wrote, and compares the counts
// with theirs.
func TestCensusOfTable(t *testing.T) {
	for name, c := range tableClients(t) {
		t.Run(name, func(t *testing.T) {
			c.t = t
			insert := func(table string, values ...string) {
				for _, v := range values {
					c.sql("INSERT INTO " + table + " VALUES (" + v + ")")
				}
			}
			a, b := c.unhex(firstID), c.unhex(secondID)
			quote := func(name string) string { return `"` + name + `"` }
			if name == "mysql" {
				quote = func(name string) string { return "`" + name + "`" }
			}
			c.sql("CREATE TABLE orders (total int, _id " + c.bytes + " PRIMARY KEY)")
			insert("orders", "1,"+a, "2,"+b)
			c.sql("CREATE TABLE users (id char(50) PRIMARY KEY, friend " + c.bytes + ")")
			insert("users", "'"+firstID+"',"+a, "'ObjectId(''"+secondID+"'')',"+a, "'alice',NULL")
			c.sql("CREATE TABLE logs (n int PRIMARY KEY, ref " + c.bytes + ", note varchar(50))")
			insert("logs", "1,"+a+",'x'", "2,"+a+",'x'", "3,NULL,'x'")
			c.sql("CREATE TABLE pairs (n int PRIMARY KEY, a " + c.bytes + ", b " + c.bytes + ")")
			insert("pairs", "1,"+a+","+b)
			c.sql("CREATE TABLE accounts (friend " + c.bytes + ", code char(24) PRIMARY KEY)")
			insert("accounts", a+",'"+firstID+"'", a+",'"+secondID+"'")
			c.sql("CREATE TABLE links (a " + c.bytes + ", b " + c.bytes + ", PRIMARY KEY (a, b))")
			insert("links", a+","+b)
			c.sql("CREATE TABLE vacant (id " + c.bytes + " PRIMARY KEY)")
			c.sql("CREATE TABLE numbers (n int PRIMARY KEY)")
			c.sql("CREATE TABLE " + quote("Odd. name") + " (" + quote("a b") + " " + c.bytes + ")")
			insert(quote("Odd. name"), a)
			c.sql("CREATE VIEW later AS SELECT _id FROM orders WHERE total > 1")

			for _, test := range []struct {
				args          string
				query         string // counts the ids
				rows, without int64
				others        map[string]int64
			}{
				{"orders", "SELECT count(_id) FROM orders", 2, 0, nil},
				{"ORDERS", "SELECT count(_id) FROM orders", 2, 0, nil},
				{"later", "SELECT count(*) FROM later", 1, 0, nil},
				{"users", "SELECT count(*) FROM users WHERE id <> 'alice'", 3, 0, map[string]int64{"string": 1}},
				{"users --column friend", "SELECT count(friend) FROM users", 3, 1, nil}, // twice, as references may be
				{"users --field friend", "SELECT count(friend) FROM users", 3, 1, nil},
				{"users --column FRIEND --from 2030-01-01", "SELECT 0", 3, 1, nil},
				{"logs", "SELECT count(ref) FROM logs", 3, 1, nil},
				{"accounts", "SELECT count(code) FROM accounts", 2, 0, nil},
				{"vacant", "SELECT count(*) FROM vacant", 0, 0, nil},
				{"Odd. name", "SELECT 1", 1, 0, nil},
				{quote("Odd. name"), "SELECT 1", 1, 0, nil},
			} {
				table, flags, _ := strings.Cut(test.args, " --")
				args := []string{c.url + "#" + table}
				if flags != "" {
					args = append(args, strings.Fields("--"+flags)...)
				}
				r := censusOf(t, args...)
				if want := c.count(test.query); r.IDs != want || r.Sources[0].Units != test.rows || r.WithoutField != test.without || r.Sources[0].Format != "table" || table == "accounts" && !strings.HasSuffix(r.Sources[0].Name, ", column code") || r.Sources[0].Unit != "row" {
					t.Errorf("%s: %d ids in %d rows, %d without: want %d, %d, %d", test.args, r.IDs, r.Sources[0].Units, r.WithoutField, want, test.rows, test.without)
				}
				if others := othersOf(r); len(others) != len(test.others) || others["string"] != test.others["string"] {
					t.Errorf("%s: others %v, want %v", test.args, others, test.others)
				}
				if len(r.Findings) != len(test.others) {
					t.Errorf("%s: findings %v", test.args, r.Findings)
				}
			}
			for args, want := range map[string]string{
				"orders --column total":  "no ids were judged: no id in 2 rows",
				"":                       "choose one, as in oid census '",
				"bogus":                  `there is no table or collection "bogus"; the database has `,
				"orders --column bogus":  `has no column "bogus"; it has total int`,
				"pairs":                  "has ids in several columns: a " + strings.ToLower(c.bytes),
				"links":                  "has ids in several columns: a " + strings.ToLower(c.bytes),
				"numbers":                "no ids in the first 100 rows of any column",
				"orders --grep":          "leave out --grep",
				"numbers --column bogus": "it has n int",
			} {
				table, flags, _ := strings.Cut(args, " ")
				got := oid(t, "", append([]string{"census", c.url + "#" + table}, strings.Fields(flags)...)...)
				if got.code == 0 || !strings.Contains(strings.ToLower(got.err), strings.ToLower(want)) {
					t.Errorf("%q: exit code %d: %s\nwant %s", args, got.code, got.err, want)
				}
			}

			r := &censusReader{options: &census.Options{Field: "_id"}}
			if parts, err := r.parts(t.Context(), c.url+"#orders"); err != nil || parts[0].documents < 1 {
				t.Errorf("the progress has no estimate: %+v, %v", parts, err)
			}
			for _, d := range r.databases {
				_ = d.Close()
			}

			// A table against a dump with one of its ids.
			dump := filepath.Join(t.TempDir(), "ids")
			if err := os.WriteFile(dump, []byte(firstID+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := oid(t, "", "census", "--compare", "--ids", c.url+"#orders", dump); got.out != "< "+secondID+"\n" {
				t.Errorf("--compare --ids: %+v", got)
			}
		})
	}
}

// othersOf returns the numbers of values of other types.
func othersOf(r wire.Census) map[string]int64 {
	others := map[string]int64{}
	for _, o := range r.Others {
		others[o.Type] = o.Values
	}
	return others
}

// TestRowsBeforeAnError counts the rows that a database returned before it failed.
func TestRowsBeforeAnError(t *testing.T) {
	testenv.Program(t, "sqlite3", "sqlite3")
	file := filepath.Join(t.TempDir(), "app.db")
	tableClient{t: t, command: []string{"sqlite3", file}}.sql(`CREATE VIEW rows AS WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 1000)
		SELECT CASE WHEN n = 500 THEN abs(-9223372036854775808) ELSE zeroblob(12) END AS id FROM i`)
	got := oid(t, "", "census", file)
	if got.code != 1 || !strings.Contains(got.err, "read column id of table rows: SQL logic error: integer overflow") || !strings.Contains(strings.Join(strings.Fields(got.out), " "), "table, 499 rows, 499 ids") {
		t.Errorf("%+v", got)
	}
}
