package failure_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/internal/testenv"
)

// check checks the kind of an error that a real system has returned.
func check(t *testing.T, what string, err error, want failure.Kind) {
	t.Helper()
	t.Logf("%s: %v", what, err)
	if got := failure.Of(err).Kind; err == nil || got != want {
		t.Errorf("%s: %v is %v, want %v", what, err, got, want)
	}
}

// These are errors of a real PostgreSQL.
func TestPostgres(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	connect := func(user string) (*pgx.Conn, error) {
		return pgx.Connect(t.Context(), strings.Replace(server.URL(), "//oid@", "//"+user+"@", 1))
	}
	one, other := testenv.Must(connect("oid"))(t), testenv.Must(connect("oid"))(t)
	try := func(c *pgx.Conn, commands ...string) (err error) {
		for _, command := range commands {
			_, err = c.Exec(t.Context(), command, pgx.QueryExecModeSimpleProtocol)
		}
		return err
	}
	end := func() {
		testenv.NoError(t, try(one, "ROLLBACK"))
		testenv.NoError(t, try(other, "ROLLBACK"))
	}
	testenv.NoError(t, try(one, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)", "CREATE ROLE few LOGIN CONNECTION LIMIT 0", "CREATE ROLE powerless LOGIN"))
	check(t, "read-only", try(one, "BEGIN READ ONLY", "UPDATE t SET n = 2"), failure.WrongNode)
	end()
	testenv.NoError(t, try(one, "BEGIN", "UPDATE t SET n = 2"))
	check(t, "locked", try(other, "BEGIN", "SET LOCAL lock_timeout = '50ms'", "UPDATE t SET n = 3"), failure.Passes)
	end()
	check(t, "statement timeout", try(one, "BEGIN", "SET LOCAL statement_timeout = '50ms'", "SELECT pg_sleep(9)"), failure.Passes)
	end()
	testenv.NoError(t, try(one, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT * FROM t"))
	testenv.NoError(t, try(other, "UPDATE t SET n = 4"))
	check(t, "serialization", try(one, "UPDATE t SET n = 5"), failure.Passes)
	testenv.NoError(t, try(one, "ROLLBACK"))
	check(t, "in use", try(one, "CREATE DATABASE copy TEMPLATE postgres"), failure.Passes) // other uses it
	_, err := connect("few")
	check(t, "too many connections", err, failure.Passes)
	check(t, "terminated", try(one, fmt.Sprintf("SELECT pg_terminate_backend(%d)", one.PgConn().PID())), failure.Passes)
	check(t, "privilege", try(testenv.Must(connect("powerless"))(t), "INSERT INTO t VALUES (1)"), failure.Final)
	_, err = connect("nobody")
	check(t, "unknown user", err, failure.Final)
	server.Kill()
	_, err = connect("oid")
	check(t, "nobody there", err, failure.Passes)
}

// These are errors of the real SQLite and of a real file system.
func TestFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	open := func(pragma string) *sql.DB {
		db := testenv.Must(sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma="+pragma))(t)
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { db.Close() })
		return db
	}
	fill := func(db *sql.DB) error {
		_, err := db.Exec("CREATE TABLE IF NOT EXISTS t (x); INSERT INTO t VALUES (zeroblob(100000))")
		return err
	}
	writer := open("cache_size(10)")
	testenv.NoError(t, fill(writer))
	check(t, "full", fill(open("max_page_count(10)")), failure.Passes)
	check(t, "query only", fill(open("query_only(1)")), failure.Final)
	tx := testenv.Must(writer.Begin())(t)
	check(t, "busy", fill(open("busy_timeout(0)")), failure.Passes)
	testenv.NoError(t, tx.Rollback())
	testenv.NoError(t, os.WriteFile(path+"2", []byte(strings.Repeat("no database", 100)), 0o600))
	path += "2"
	check(t, "no database", fill(open("cache_size(10)")), failure.Final)

	full := testenv.Must(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
	defer full.Close()
	_, err := full.WriteString("x")
	check(t, "full disk", err, failure.Passes)
	_, err = os.Open(filepath.Join(t.TempDir(), "missing", "file"))
	check(t, "missing folder", err, failure.Final)
	_, err = os.Create(filepath.Join(path, "file"))
	check(t, "file in a file", err, failure.Final)
}

// With too many open files, neither a file nor a connection can be opened.
func TestTooManyOpenFiles(t *testing.T) {
	var old syscall.Rlimit
	testenv.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	fd := testenv.Must(syscall.Open("/", syscall.O_RDONLY, 0))(t)
	syscall.Close(fd)
	testenv.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(fd), Max: old.Max}))
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
	_, err := os.Open("/")
	check(t, "file", err, failure.Passes)
	_, err = pgx.Connect(t.Context(), "postgres://127.0.0.1:1/db?sslmode=disable")
	check(t, "connection", err, failure.Passes)
}
