package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// sqlEngine is how the test writes SQL for an engine and runs it.
type sqlEngine struct {
	binary string // format of a literal of bytes, from hexadecimal digits
	time   string // format of a literal of a time in UTC
	shown  string // format of an expression with a time, as 2006-01-02 15:04:05 in UTC
	hex    string // format of an expression with bytes, as digits
	table  string // statements that create the table ids with the columns digits and bytes
	// query runs statements, and expressions: one line with the value of each, NULL if it
	// is null.
	query func(t *testing.T, statements string, expressions []string) []string
}

var sqlTestEngines = map[string]sqlEngine{
	"postgres": {
		`'\x%s'::bytea`, `'%s+00'::timestamptz`, `to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')`, `encode(%s, 'hex')`,
		"CREATE TABLE ids (digits text, bytes bytea);", queryPostgres,
	},
	"mysql": {
		`x'%s'`, `TIMESTAMP('%s')`, `%s`, `HEX(%s)`,
		"CREATE TABLE ids (digits CHAR(24), bytes BINARY(12));", queryMariaDB,
	},
	"duckdb": {
		`unhex('%s')`, `'%s'::TIMESTAMP`, `(%s)::VARCHAR`, `hex(%s)`,
		"CREATE TABLE ids (digits VARCHAR, bytes BLOB);", queryDuckDB,
	},
	"clickhouse": {
		`unhex('%s')`, `toDateTime64('%s', 3, 'UTC')`, `toString(%s)`, `hex(%s)`,
		"CREATE TABLE ids (digits String, bytes FixedString(12)) ENGINE = Memory;", queryClickHouse,
	},
}

// sqlIDs are ids at the ends of what they hold, and where signed numbers end.
var sqlIDs = []string{
	"000000000000000000000000", "000000010000000000000001", "7fffffffffffffffff7fffff", "8000000080000000008000ff",
	"ffffffffffffffffffffffff", "507f1f77bcf86cd799439011", "4e7020cb7cac81af7136236b", "5e4fa350b636f733a15d6f62", "0a0d00200900000a0d00090a",
	"507f1f77bcf86cd799430000",
}

// notObjectIDs are texts that are no ids. Some engines cannot tell text of 12 bytes from an id.
var notObjectIDs = []string{"", "x", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g", "507f1f77bcf86cd79943901 ", " 507f1f77bcf86cd79943901", "{507f1f77bcf86cd799439}}"}

// sqlBounds are times with the first id of their second.
var sqlBounds = map[string]string{
	"1970-01-01 00:00:00":     "000000000000000000000000",
	"1970-01-01 00:00:16":     "000000100000000000000000",
	"2012-10-17 21:13:27":     "507f1f770000000000000000",
	"2012-10-17 21:13:27.999": "507f1f770000000000000000",
	"2038-01-19 03:14:07":     "7fffffff0000000000000000",
	"2038-01-19 03:14:08":     "800000000000000000000000",
	"2106-02-07 06:28:15.999": "ffffffff0000000000000000",
	"2106-02-07 06:28:16":     "ffffffffffffffffffffffff",
	"2200-01-01 00:00:00":     "ffffffffffffffffffffffff",
	"1969-12-31 23:59:59.5":   "000000000000000000000000",
	"1960-01-01 00:00:00":     "000000000000000000000000",
}

// functionsFor returns what oid sql writes for an engine.
func functionsFor(t *testing.T, args ...string) string {
	t.Helper()
	got := oid(t, "", append([]string{"sql", "--for"}, args...)...)
	if got.code != 0 {
		t.Fatal(got.err)
	}
	return got.out
}

// The functions are right on each engine, for text and for bytes, from 1970 to 2106.
func TestSQLFunctions(t *testing.T) {
	for name, e := range sqlTestEngines {
		t.Run(name, func(t *testing.T) {
			var expressions, want []string
			ask := func(expected, format string, args ...any) {
				expressions, want = append(expressions, fmt.Sprintf(format, args...)), append(want, expected)
			}
			for _, hex := range sqlIDs {
				id := objectid.MustParse(hex)
				for _, literal := range []string{"'" + hex + "'", "'" + strings.ToUpper(hex) + "'", fmt.Sprintf(e.binary, hex)} {
					ask(id.Time().Format(time.DateTime), e.shown, "objectid_timestamp("+literal+")")
					ask(hex[8:18], "objectid_process(%s)", literal)
					ask(fmt.Sprint(int(id[9])<<16|int(id[10])<<8|int(id[11])), "objectid_counter(%s)", literal)
					ask(hex, "objectid_hex(%s)", literal)
				}
			}
			literals := []string{fmt.Sprintf(e.binary, ""), fmt.Sprintf(e.binary, "507f1f77bcf86cd7994390"), fmt.Sprintf(e.binary, "507f1f77bcf86cd79943901100")}
			for _, text := range notObjectIDs {
				literals = append(literals, "'"+text+"'")
			}
			for _, literal := range literals {
				for _, function := range []string{"timestamp", "process", "counter", "hex"} {
					ask("NULL", "objectid_%s(%s)", function, literal)
				}
			}
			for at, hex := range sqlBounds {
				ask(hex, "objectid_from_timestamp(%s)", fmt.Sprintf(e.time, at))
				ask(hex, "lower("+e.hex+")", "objectid_binary_from_timestamp("+fmt.Sprintf(e.time, at)+")")
			}
			var table strings.Builder
			table.WriteString(e.table)
			for _, hex := range sqlIDs {
				fmt.Fprintf(&table, "INSERT INTO ids VALUES ('%s', "+e.binary+");\n", hex, hex)
			}
			from, to := fmt.Sprintf(e.time, "2012-10-17 21:13:27"), fmt.Sprintf(e.time, "2038-01-19 03:14:08")
			ask("4", "(SELECT count(*) FROM ids WHERE digits >= objectid_from_timestamp(%s) AND digits < objectid_from_timestamp(%s))", from, to)
			ask("4", "(SELECT count(*) FROM ids WHERE bytes >= objectid_binary_from_timestamp(%s) AND bytes < objectid_binary_from_timestamp(%s))", from, to)
			ask(fmt.Sprint(len(sqlIDs)), "(SELECT count(*) FROM ids WHERE objectid_timestamp(digits) = objectid_timestamp(bytes) AND objectid_hex(digits) = objectid_hex(bytes))")
			// Installing them twice is no error.
			functions := functionsFor(t, name)
			got := e.query(t, functions+functions+table.String(), expressions)
			if len(got) != len(want) {
				t.Fatalf("%d values of %d: %q", len(got), len(want), got)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%s: %s, want %s", expressions[i], got[i], want[i])
				}
			}
		})
	}
}

// A range of either column reads that range of its index.
func TestSQLBoundsUseTheIndex(t *testing.T) {
	const fill = "INSERT INTO ids SELECT lpad(%[1]s, 24, '0'), %[2]s FROM %[3]s;\nCREATE INDEX a ON ids (digits); CREATE INDEX b ON ids (bytes); ANALYZE %[4]s ids;\n"
	for name, c := range map[string]struct{ fill, explain, want string }{
		"postgres": {fmt.Sprintf(fill, "to_hex(n::bigint * 1000000 * 65536)", "decode(lpad(to_hex(n::bigint * 1000000 * 65536), 24, '0'), 'hex')", "generate_series(1, 20000) n", ""), "EXPLAIN ", `Index Cond: \(\(\w+ >= .*\) AND \(\w+ < `},
		"mysql":    {fmt.Sprintf(fill, "HEX(seq)", "UNHEX(LPAD(HEX(seq), 24, '0'))", "seq_1_to_20000", "TABLE"), "EXPLAIN ", "\trange\t"},
	} {
		e := sqlTestEngines[name]
		from, to := fmt.Sprintf(e.time, "2012-10-17 21:13:27"), fmt.Sprintf(e.time, "2012-10-17 22:13:27")
		for column, function := range map[string]string{"digits": "objectid_from_timestamp", "bytes": "objectid_binary_from_timestamp"} {
			plan := strings.Join(e.query(t, functionsFor(t, name)+e.table+c.fill+c.explain+fmt.Sprintf("SELECT * FROM ids WHERE %[1]s >= %[2]s(%[3]s) AND %[1]s < %[2]s(%[4]s);", column, function, from, to), nil), "\n")
			if !regexp.MustCompile(c.want).MatchString(plan) {
				t.Errorf("%s, %s: the plan has no %s:\n%s", name, column, c.want, plan)
			}
		}
	}
}

func queryPostgres(t *testing.T, statements string, expressions []string) []string {
	clients := newDatabaseClients(t)
	cmd := exec.Command("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--pset=null=NULL")
	cmd.Env = append(docsEnviron(), clients.postgres()...)
	cmd.Stdin = strings.NewReader(statements + selects(expressions))
	return lines(t, cmd)
}

func queryMariaDB(t *testing.T, statements string, expressions []string) []string {
	client := testenv.MariaDB(t)
	cmd := exec.Command(client[0], append(client[1:], "--batch", "--skip-column-names")...)
	cmd.Stdin = strings.NewReader(statements + selects(expressions))
	return lines(t, cmd)
}

// selects returns a statement for each expression.
func selects(expressions []string) string {
	var b strings.Builder
	for _, e := range expressions {
		fmt.Fprintf(&b, "SELECT %s;\n", e)
	}
	return b.String()
}

func queryDuckDB(t *testing.T, statements string, expressions []string) []string {
	return queryInNode(t, "@duckdb/node-api", "1.5.6-r.1", `
const { DuckDBInstance } = require("@duckdb/node-api");
(async () => {
  const { statements, expressions } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const c = await (await DuckDBInstance.create(":memory:")).connect();
  await c.run(statements);
  for (const e of expressions) console.log(String((await c.runAndReadAll("SELECT " + e)).getRows()[0][0] ?? "NULL"));
})();`, statements, expressions)
}

func queryClickHouse(t *testing.T, statements string, expressions []string) []string {
	return queryInNode(t, "chdb", "3.4.0", `
const { Session } = require("chdb");
const { statements, expressions } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const s = new Session();
for (const one of statements.replace(/^--.*$/gm, "").split(";")) if (one.trim()) s.query(one);
for (const e of expressions) process.stdout.write(s.query("SELECT " + e, "TSV").replace("\\N", "NULL"));
s.cleanup();`, statements, expressions)
}

// queryInNode runs a program for Node.js with an engine that is a package of npm.
func queryInNode(t *testing.T, name, version, program, statements string, expressions []string) []string {
	modules := testenv.NodeModules(t, name, version)
	input, err := json.Marshal(map[string]any{"statements": statements, "expressions": expressions})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", program)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	cmd.Stdin = bytes.NewReader(input)
	return lines(t, cmd)
}

// lines runs cmd and returns the lines of its output.
func lines(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, stderr.String(), out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}
