package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// TestMissingCollection reads collections that do not exist: the error has the names of those that
// do. A collection that is empty is no error, and a census says that it looked.
func TestMissingCollection(t *testing.T) {
	postgres := testenv.PostgresSchema(t, testenv.SharedPostgres(t).URL())
	mongodb := testenv.MongoDB(t)
	for name, at := range map[string]struct{ store, source, typo string }{
		"sqlite":   {"sqlite:" + filepath.Join(t.TempDir(), "s.db"), "#events", "#event"},
		"postgres": {postgres, "#events", "#event"},
		"mongodb":  {mongodb, ".events", ".event"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OID_STORE", at.store)
			for _, step := range []struct {
				args string
				code int
				text string // what is printed, on either stream
			}{
				{`insert events {}`, 0, ""},
				{"find event", 1, `there is no collection "event"; the store has the collections events`},
				{"find event --count --since 1h", 1, `there is no collection "event"; the store has the collections events`},
				{"get event 507f1f77bcf86cd799439011", 1, `there is no collection "event"; the store has the collections events`},
				{"census store:event", 1, `there is no collection "event"; the store has the collections events`},
				{"census " + at.store + at.typo, 1, "events"},
				{"census " + at.store + at.source, 0, "1 document, 1 id"},
				{"find events --to 2020-01-01", 0, ""},
				{"get events 507f1f77bcf86cd799439011", 1, "oid: not found: no document has the _id 507f1f77bcf86cd799439011\n"},
				{"delete events --all --yes", 0, "1"},
				{"find events", 0, ""},
				{"find events --count", 0, "0"},
				{"census store:events", 0, "store:events: bson, 0 documents, 0 ids"},
			} {
				got := oid(t, "", strings.Fields(step.args)...)
				if text := got.out + got.err; got.code != step.code || !strings.Contains(strings.Join(strings.Fields(text), " "), strings.TrimSpace(step.text)) || strings.Contains(step.args, "find events") && got.err != "" {
					t.Errorf("oid %s: %+v, want %d, %q", step.args, got, step.code, step.text)
				}
			}
		})
	}

	// A database of MongoDB that does not exist.
	u := testenv.Must(url.Parse(mongodb))(t)
	have := strings.TrimPrefix(u.Path, "/")
	if got := oid(t, "", "insert", "--store", mongodb, "events", "{}"); got.code != 0 {
		t.Fatal(got)
	}
	u.Path = "/nothing" + objectid.New().String()
	for _, end := range []string{"", ".events"} {
		got := oid(t, "", "census", u.String()+end)
		if got.code != 1 || !strings.Contains(got.err, "has no collections; the server has the databases ") || !strings.Contains(got.err, have) {
			t.Errorf("no database: %+v", got)
		}
	}
}

// TestForeignTables asks for documents in databases of other programs: the commands that the error
// prints find the rows.
func TestForeignTables(t *testing.T) {
	for name, c := range tableClients(t) {
		t.Run(name, func(t *testing.T) {
			c.t = t
			c.sql("CREATE TABLE orders (id " + c.bytes + " PRIMARY KEY, item char(3))")
			fresh := objectid.New().String()
			c.sql("INSERT INTO orders VALUES (" + c.unhex(fresh) + ", 'tea')")
			if got := oid(t, "", "census", "--store", c.url, "store:orders"); name != "mysql" && (got.code != 1 || !strings.Contains(got.err, "; for the ids of one write oid census '"+c.url+"#") || strings.Contains(got.out, "\ufffd")) {
				t.Errorf("census: %+v", got)
			}
			for _, args := range []string{"find orders", "find orders --count", "get orders " + fresh, "find nothing"} {
				got := oid(t, "", append(strings.Fields(args), "--store", c.url)...)
				if name == "mysql" {
					if got.code != 2 || !strings.Contains(got.err, "oid keeps no documents") {
						t.Errorf("%s: %+v", args, got)
					}
					continue
				}
				if got.code != 1 || got.out != "" || !strings.Contains(got.err, "orders, which are no store of oid") {
					t.Errorf("%s: %+v", args, got)
				}
				_, commands, _ := strings.Cut(strings.TrimSpace(got.err), " write ")
				census, condition, found := strings.Cut(commands, ", for the condition of a query ")
				if out := shell(t, census); !found || !strings.Contains(out, "1 row, 1 id") {
					t.Errorf("%s\nprints %s", census, out)
				}
				if rows := c.sql("SELECT item FROM orders WHERE " + shell(t, condition)); rows != "tea" {
					t.Errorf("%s\nfinds %q, want the row", condition, rows)
				}
			}
		})
	}
}

// shell runs a command that oid has printed, and returns what it prints.
func shell(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", command, err, out)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// TestCollectionAndTable has a table and a collection of one name in a database: the name after # means
// the table. A file that has only one table needs no name.
func TestCollectionAndTable(t *testing.T) {
	c := postgresTables(t)
	c.url += "&options=-csearch_path%3Dpublic" // the user is called oid, and so is the schema of the store
	t.Setenv("OID_STORE", c.url)
	c.sql("CREATE TABLE events (id bytea PRIMARY KEY)")
	if got := oid(t, "", "insert", "events", `{"_id":{"$oid":"`+firstID+`"}}`); got.code != 0 {
		t.Fatal(got)
	}
	for source, want := range map[string]string{c.url + "#events": "table, 0 rows, 0 ids", c.url + "#public.events": "table, 0 rows, 0 ids", "store:events": "bson, 1 document, 1 id"} {
		if got := oid(t, "", "census", source); got.code != 0 || !strings.Contains(strings.Join(strings.Fields(got.out), " "), want) {
			t.Errorf("%s: %+v, want %s", source, got, want)
		}
	}
	if got := oid(t, "", "census", c.url); got.code != 2 || !strings.Contains(got.err, "has public.events, events; choose one") {
		t.Errorf("no name: %+v", got)
	}

	file := filepath.Join(t.TempDir(), "it's #1.db")
	lite := tableClient{t: t, command: []string{"sqlite3", file}}
	lite.sql("CREATE TABLE orders (id BLOB PRIMARY KEY); INSERT INTO orders VALUES (x'" + firstID + "')")
	if got := oid(t, "", "census", file); got.code != 0 || !strings.Contains(strings.Join(strings.Fields(got.out), " "), "column id: table, 1 row, 1 id") {
		t.Errorf("one table: %+v", got)
	}
	lite.sql("CREATE TABLE users (id BLOB PRIMARY KEY)")
	got := oid(t, "", "census", file)
	_, command, found := strings.Cut(strings.TrimSpace(got.err), "choose one, as in ")
	command, _, _ = strings.Cut(command, "\n")
	if got.code != 2 || !found || !strings.Contains(shell(t, command), "1 row, 1 id") {
		t.Errorf("two tables: %+v", got)
	}
	if err := os.Remove(file); err != nil {
		t.Error(err)
	}
}

// TestNamesOfSources shows no password of a URL, also if the URL is not written as it should be.
func TestNamesOfSources(t *testing.T) {
	for _, arg := range []string{
		"postgres://me:secret@h/db#t", "mysql://me:secret@h/db#t", "mongodb://me:secret@h/db.c", "postgres://h/db?password=secret#t", "postgres://h/db?PASSWORD=secret&sslpassword=secret",
		"postgres://me:12#secret@h/db#t", "mongodb://me:12#secret@h/db.c", "mysql://me:sec ret secret@h/db", "mariadb://me:%zzsecret@h/db", "postgres://me:1/secret@h/db#t",
	} {
		if name := nameOf(arg); strings.Contains(name, "secret") {
			t.Errorf("%s is called %s", arg, name)
		}
	}
	for arg, want := range map[string]string{"-": "standard input", "postgres://h/db#My Shop": "postgres://h/db#My Shop", "sqlite:a#b": "sqlite:a#b", "a://b": "a://b"} {
		if name := nameOf(arg); name != want {
			t.Errorf("%s is called %s, want %s", arg, name, want)
		}
	}
}

// TestTableBesideStore reads a table of a database whose store has the format of another version.
func TestTableBesideStore(t *testing.T) {
	c := postgresTables(t)
	if got := oid(t, "", "insert", "--store", c.url, "events", "{}"); got.code != 0 {
		t.Fatal(got)
	}
	c.sql(`CREATE TABLE public.orders (id bytea PRIMARY KEY); UPDATE oid."^1format" SET version = 99`)
	if got := oid(t, "", "census", c.url+"#orders"); got.code != 0 {
		t.Errorf("a table: %+v", got)
	}
	if got := oid(t, "", "census", c.url+"#events"); got.code != 1 || !strings.Contains(got.err, "format 99") {
		t.Errorf("a collection: %+v", got)
	}
}
