package table_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/cmd/oid/internal/table"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

const id = "507f1f77bcf86cd799439011"

// open opens a database, and closes it when the test ends.
func open(t testing.TB, url string) *table.Database {
	t.Helper()
	d := testenv.Must(table.Open(t.Context(), url))(t)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// named returns the only table with a name.
func named(t testing.TB, d *table.Database, name string) table.Table {
	t.Helper()
	found := d.Named(name)
	if len(found) != 1 {
		t.Fatalf("%s: found %v, want one table", name, found)
	}
	return found[0]
}

// run runs a client of a database with SQL as its input.
func run(t testing.TB, sql string, command ...string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(sql)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// kinds are things in a database from which rows can be selected: each has one id.
type kinds map[string]string // the column by the name of the thing

func (k kinds) check(t *testing.T, d *table.Database) {
	t.Helper()
	for name, column := range k {
		of := named(t, d, name)
		c, err := d.Column(t.Context(), of, "")
		if err != nil || c.Name != column {
			t.Errorf("%s: column %s, error %v, want %s", name, c, err, column)
			continue
		}
		var docs bytes.Buffer
		if err := d.Read(t.Context(), of, c, &docs); err != nil || docs.Len() != 22 || !bytes.Contains(docs.Bytes(), []byte("\x50\x7f\x1f\x77\xbc\xf8\x6c\xd7\x99\x43\x90\x11")) {
			t.Errorf("%s: error %v, documents %x", name, err, docs.Bytes())
		}
	}
}

// postgres returns the URL of a new database and its name.
func postgres(t *testing.T) (url, database string) {
	s := testenv.SharedPostgres(t)
	database = "kinds_" + objectid.New().String()
	s.Exec("CREATE DATABASE " + database)
	return strings.Replace(s.URL(), "/postgres?", "/"+database+"?", 1), database
}

// TestPostgres reads everything of PostgreSQL from which rows can be selected.
func TestPostgres(t *testing.T) {
	url, database := postgres(t)
	clerk, guest, pooledTable := "clerk_"+database, "guest_"+database, "pooled_"+database // which the whole server has
	run(t, `
		CREATE SCHEMA "My Shop";
		CREATE TABLE "My Shop"."Order.Lines" ("Id" bytea PRIMARY KEY);
		INSERT INTO "My Shop"."Order.Lines" VALUES ('\x`+id+`');
		CREATE DOMAIN printable_id AS bytea CHECK (length(value) = 12);
		CREATE TABLE domains (n int PRIMARY KEY, ref printable_id);
		INSERT INTO domains VALUES (1, '\x`+id+`');
		CREATE TABLE generated (n int PRIMARY KEY, bin bytea, hex text GENERATED ALWAYS AS (encode(bin, 'hex')) STORED);
		INSERT INTO generated VALUES (1, '\x`+id+`');
		CREATE TABLE parts (_id bytea NOT NULL) PARTITION BY RANGE (_id);
		CREATE TABLE parts1 PARTITION OF parts DEFAULT;
		INSERT INTO parts VALUES ('\x`+id+`');
		CREATE MATERIALIZED VIEW saved AS SELECT * FROM parts;
		CREATE VIEW seen AS SELECT 1 AS n, _id AS ref FROM parts;
		CREATE TABLE json AS SELECT 1 AS n, jsonb_build_object('$oid', '`+id+`') AS doc;
		CREATE TABLE escaped AS SELECT 1 AS n, '\x`+id+`'::text AS ref;
		CREATE TABLE "order" (n int PRIMARY KEY, "user" char(30));
		INSERT INTO "order" VALUES (1, '`+id+`');
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '`+strings.Split(strings.Split(url, ":")[2], "/")[0]+`', dbname '`+database+`');
		CREATE USER MAPPING FOR oid SERVER elsewhere OPTIONS (user 'oid');
		CREATE FOREIGN TABLE far (_id bytea) SERVER elsewhere OPTIONS (table_name 'parts');
		CREATE TABLE secret (id bytea PRIMARY KEY, other bytea);
		INSERT INTO secret VALUES ('\x`+id+`', '\x`+id+`');
		CREATE ROLE `+clerk+` LOGIN;
		GRANT SELECT (id) ON secret TO `+clerk+`;
		CREATE ROLE `+guest+` LOGIN;
	`, "psql", "-Xqv", "ON_ERROR_STOP=1", url)
	d := open(t, url)
	kinds{
		`My Shop.Order.Lines`: "Id", `"My Shop"."Order.Lines"`: "Id", `my shop.order.lines`: "Id",
		"parts": "_id", "public.parts": "_id", "saved": "_id", "seen": "ref", "json": "doc", "escaped": "ref", "order": "user", "far": "_id", "domains": "ref",
	}.check(t, d)

	// Another schema than those of the search path must be written.
	if found := d.Named("Order.Lines"); found != nil {
		t.Errorf("found %v without the schema", found)
	}

	// Two columns have ids, so only a person can choose.
	of := named(t, d, "generated")
	if _, err := d.Column(t.Context(), of, ""); err == nil || !strings.Contains(err.Error(), "several columns: bin bytea, hex text") {
		t.Errorf("generated: error %v, want one with both columns", err)
	}
	if c := testenv.Must(d.Column(t.Context(), of, "HEX"))(t); c.Name != "hex" {
		t.Errorf("generated: column %s", c)
	}

	// A user with the right to read one column reads that column; one without any right gets an error.
	kinds{"secret": "id"}.check(t, open(t, strings.Replace(url, "oid@", clerk+"@", 1)))
	if _, err := open(t, strings.Replace(url, "oid@", guest+"@", 1)).Column(t.Context(), of, ""); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("guest: error %v", err)
	}

	// A view may call what writes; reading it writes nothing.
	run(t, "CREATE SEQUENCE s; CREATE VIEW writes AS SELECT decode(lpad(to_hex(nextval('s')), 24, '0'), 'hex') AS id", "psql", "-Xq", url)
	d = open(t, url)
	if _, err := d.Column(t.Context(), named(t, d, "writes"), ""); err == nil || !strings.Contains(err.Error(), "read-only transaction") {
		t.Errorf("a view that writes: %v", err)
	}

	// The estimate comes from the planner.
	run(t, "CREATE TABLE many_rows AS SELECT decode(lpad(to_hex(i), 24, '0'), 'hex') AS id FROM generate_series(1, 5000) i; ANALYZE many_rows;", "psql", "-Xq", url)
	d = open(t, url)
	if n := d.Estimate(t.Context(), named(t, d, "many_rows")); n != 5000 {
		t.Errorf("estimate %d, want 5000", n)
	}

	// A pooler lends another connection to each transaction.
	pooled := testenv.SharedPgBouncer(t)
	run(t, "CREATE TABLE "+pooledTable+" (id bytea PRIMARY KEY); INSERT INTO "+pooledTable+" VALUES ('\\x"+id+"')", "psql", "-Xq", testenv.SharedPostgres(t).URL())
	for range 3 {
		kinds{pooledTable: "id"}.check(t, open(t, pooled))
	}

	if _, err := table.Open(t.Context(), strings.Replace(url, "/"+database, "/nothing", 1)); err == nil || !strings.Contains(err.Error(), `database "nothing" does not exist`) {
		t.Errorf("no database: %v", err)
	}
}

// TestPostgresEnds reads a table while the caller or the server goes away.
func TestPostgresEnds(t *testing.T) {
	s := testenv.Postgres(t)
	s.Exec("CREATE VIEW endless AS SELECT decode(lpad(to_hex(generate_series(1, 1000000000)), 24, '0'), 'hex') AS id")
	d := open(t, s.URL())
	of := named(t, d, "endless")
	c := testenv.Must(d.Column(t.Context(), of, "id"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := d.Read(ctx, of, c, after(5000, cancel))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	err = d.Read(t.Context(), of, c, after(5000, s.Kill))
	if err == nil || !strings.Contains(err.Error(), "read column id of table public.endless") {
		t.Errorf("server killed: %v", err)
	}
}

// after returns a writer that calls do once, after a number of documents.
func after(documents int, do func()) io.Writer {
	return writerFunc(func() {
		if documents--; documents == 0 {
			do()
		}
	})
}

// writerFunc is called with each document.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// TestSQLite reads everything of SQLite from which rows can be selected.
func TestSQLite(t *testing.T) {
	testenv.Program(t, "sqlite3", "sqlite3")
	path := filepath.Join(t.TempDir(), "my app?%20#1.db")
	blob := "x'" + id + "'"
	run(t, `
		CREATE TABLE plain (_id BLOB PRIMARY KEY); INSERT INTO plain VALUES (`+blob+`);
		CREATE TABLE compact (id BLOB PRIMARY KEY, n INT) WITHOUT ROWID; INSERT INTO compact VALUES (`+blob+`, 1);
		CREATE TABLE generated (n INTEGER PRIMARY KEY, doc TEXT, ref TEXT GENERATED ALWAYS AS (doc ->> '$.ref') VIRTUAL);
		INSERT INTO generated (n, doc) VALUES (1, '{"ref":"`+id+`"}');
		CREATE VIEW seen AS SELECT 1 AS n, _id AS ref FROM plain;
		CREATE TABLE keyed (id BLOB, ref BLOB PRIMARY KEY); INSERT INTO keyed VALUES (x'6592008029c8c3e4dc762501', `+blob+`);
		CREATE TABLE named (ref BLOB PRIMARY KEY, _ID BLOB); INSERT INTO named VALUES (x'6592008029c8c3e4dc762501', `+blob+`);
		CREATE TABLE vacant (n INT, ID BLOB); CREATE TABLE vague (a BLOB, b BLOB);
		CREATE TABLE late (a BLOB, b BLOB); INSERT INTO late VALUES ('', NULL), (x'00', `+blob+`);
		CREATE TABLE order_rows (ref BLOB); INSERT INTO order_rows VALUES (`+blob+`);
		CREATE TABLE untyped (n, ref); INSERT INTO untyped VALUES (1, `+blob+`);
		CREATE TABLE "Odd ""name""" ("a.b" TEXT); INSERT INTO "Odd ""name""" VALUES ('`+id+`');
	`, "sqlite3", path)
	d := open(t, "sqlite:"+path)
	kinds{"plain": "_id", "PLAIN": "_id", "compact": "id", "generated": "ref", "seen": "ref", "untyped": "ref", "keyed": "ref", "named": "_ID", "order_rows": "ref", `Odd "name"`: "a.b", `"Odd ""name"""`: "a.b"}.check(t, d)
	run(t, "CREATE TABLE many (id INTEGER PRIMARY KEY, ref BLOB); WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM i WHERE n < 5000) INSERT INTO many SELECT n, zeroblob(12) FROM i;", "sqlite3", path)
	d = open(t, "sqlite:"+path)
	if n := d.Estimate(t.Context(), named(t, d, "many")); n != 5000 {
		t.Errorf("estimate %d, want 5000", n)
	}
	for name, want := range map[string]int64{"compact": -1, "vacant": -1, "order_rows": 1} { // the first has no rowids
		if n := d.Estimate(t.Context(), named(t, d, name)); n != want {
			t.Errorf("estimate %d of table %s, want %d", n, name, want)
		}
	}

	// Without ids, the name or the key of a column decides, or nothing does.
	for name, want := range map[string]string{"vacant": "ID", "late": "b"} { // the latter has an id in its second row
		if c, err := d.Column(t.Context(), named(t, d, name), ""); err != nil || c.Name != want {
			t.Errorf("%s: column %s, %v, want %s", name, c, err, want)
		}
	}
	if c, err := d.Column(t.Context(), named(t, d, "vague"), ""); err == nil || !strings.Contains(err.Error(), "it has the columns a BLOB, b BLOB; choose one with --column NAME") {
		t.Errorf("vague: column %s, %v", c, err)
	}

	// Another program has written to its log, and has not ended.
	wal := filepath.Join(t.TempDir(), "wal.db")
	writer := exec.Command("sqlite3", wal)
	in := testenv.Must(writer.StdinPipe())(t)
	out := testenv.Must(writer.StdoutPipe())(t)
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = writer.Wait() }()
	_, _ = io.WriteString(in, "PRAGMA journal_mode=WAL; CREATE TABLE t (id BLOB PRIMARY KEY); INSERT INTO t VALUES ("+blob+"); SELECT 'written';\n")
	for line := ""; !strings.Contains(line, "written"); {
		b := make([]byte, 100)
		n, err := out.Read(b)
		if line += string(b[:n]); err != nil {
			t.Fatal(err)
		}
	}
	kinds{"t": "id"}.check(t, open(t, "sqlite:"+wal))
}

// TestMySQL reads what is special in MySQL.
func TestMySQL(t *testing.T) {
	client := testenv.MariaDB(t)
	socket := ""
	for _, arg := range client {
		if path, found := strings.CutPrefix(arg, "--socket="); found {
			socket = path
		}
	}
	run(t, "CREATE TABLE fixed (id BINARY(12) PRIMARY KEY); INSERT INTO fixed VALUES (x'"+id+"');"+
		"CREATE TABLE hex (id CHAR(24) PRIMARY KEY); INSERT INTO hex VALUES ('"+id+"');"+
		"CREATE TABLE bytes (n INT PRIMARY KEY, ref BLOB, word CHAR(12), code VARBINARY(12)); INSERT INTO bytes VALUES (1, x'"+id+"', 'twelve bytes', 'INV-20261128');"+
		"CREATE TABLE parts (_id VARBINARY(12) PRIMARY KEY) PARTITION BY KEY (_id) PARTITIONS 4; INSERT INTO parts VALUES (x'"+id+"');"+
		"CREATE TABLE generated (n INT, doc TEXT, ref CHAR(24) AS (json_value(doc, '$.ref'))); INSERT INTO generated (n, doc) VALUES (1, '{\"ref\":\""+id+"\"}');"+
		"CREATE VIEW seen AS SELECT 1 AS n, _id AS ref FROM parts;"+
		"CREATE DATABASE other; CREATE TABLE other.there (id BINARY(12)); INSERT INTO other.there VALUES (x'"+id+"');", client...)
	kinds{"fixed": "id", "hex": "id", "bytes": "ref", "parts": "_id", "seen": "ref", "generated": "ref", "other.there": "id", "`other`.`there`": "id"}.check(t, open(t, "mysql://root:pass@localhost/shop?socket="+socket))
	run(t, "CREATE TABLE many AS SELECT unhex(lpad(seq, 24, '0')) AS id FROM seq_1_to_5000; ANALYZE TABLE many;", client...)
	d := open(t, "mariadb:///shop?socket="+socket)
	if n := d.Estimate(t.Context(), named(t, d, "many")); n < 4000 || n > 6000 {
		t.Errorf("estimate %d, want about 5000", n)
	}
	if _, err := table.Open(t.Context(), "mysql://root@localhost/nothing?socket="+socket); err == nil || !strings.Contains(err.Error(), "Unknown database 'nothing'") {
		t.Errorf("no database: %v", err)
	}
}
