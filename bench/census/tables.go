package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/bench/page"
)

// tableRows is how many rows each table has.
const tableRows = 1_000_000

// measureTables measures the census of a table beside the client of its database, which prints the
// same column to nowhere.
func measureTables(dir, oid string, rounds int) (string, error) {
	var all strings.Builder
	for _, of := range []func(dir, oid string) (contests []contest, stop func(), err error){postgresTables, mysqlTables, sqliteTables} {
		contests, stop, err := of(dir, oid)
		if errors.Is(err, exec.ErrNotFound) {
			fmt.Fprintf(&all, "\nLeft out, because it is not installed: %v.\n", err)
			continue
		}
		if err != nil {
			return "", err
		}
		for _, c := range contests {
			table, err := c.run(dir, rounds)
			if err != nil {
				stop()
				return "", err
			}
			fmt.Fprintf(&all, "\n%s", table)
			fmt.Fprintf(os.Stderr, "%s done\n", c.name)
		}
		stop()
	}
	return all.String(), nil
}

// tableContest has the table t of a database; the client prints its column id.
func tableContest(name, oid, url string, size int, client string, argv ...string) contest {
	return contest{"table of " + name, tableRows, size, nil, []command{
		{"oid census", func(string) []string { return []string{oid, "census", url} }},
		{client, func(string) []string { return argv }},
	}}
}

func postgresTables(_, oid string) (contests []contest, stop func(), err error) {
	conn, _, stop, err := page.StartPostgres(context.Background())
	if err != nil {
		return nil, nil, err
	}
	c := conn.Config()
	url := fmt.Sprintf("postgres://%s@%s:%d/%s?sslmode=disable", c.User, c.Host, c.Port, c.Database)
	for _, t := range []struct {
		name, id string
		size     int
	}{{"bytea", "decode(lpad(to_hex(1700000000 + i / 10), 8, '0') || 'aabbccddee' || lpad(to_hex(i), 6, '0'), 'hex')", 12}, {"text", "encode(id, 'hex')::char(24)", 24}} {
		from := fmt.Sprintf("generate_series(1, %d) i", tableRows)
		if t.name == "text" {
			from = "bytea"
		}
		_, err := conn.Exec(context.Background(), fmt.Sprintf("CREATE TABLE %[1]s AS SELECT %[2]s AS id, 'some text' AS note FROM %[3]s; ALTER TABLE %[1]s ADD PRIMARY KEY (id)", t.name, t.id, from), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			stop()
			return nil, nil, err
		}
		contests = append(contests, tableContest("PostgreSQL, "+t.name, oid, url+"#"+t.name, t.size, "psql -Atc 'select id'", "psql", url, "-XAtc", "select id from "+t.name))
	}
	if _, err := conn.Exec(context.Background(), "VACUUM ANALYZE"); err != nil {
		stop()
		return nil, nil, err
	}
	return contests, stop, nil
}

func mysqlTables(dir, oid string) (contests []contest, stop func(), err error) {
	if _, err := exec.LookPath("/usr/sbin/mariadbd"); err != nil {
		return nil, nil, fmt.Errorf("MariaDB: %w", exec.ErrNotFound)
	}
	data := filepath.Join(dir, "mariadb")
	if err := errors.Join(os.Mkdir(data, 0o700), os.Mkdir(filepath.Join(data, "bench"), 0o700)); err != nil {
		return nil, nil, err
	}
	socket := filepath.Join(dir, "socket")
	args := []string{"--no-defaults", "--datadir=" + data, "--socket=" + socket, "--skip-networking", "--skip-grant-tables"}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	server := exec.Command("/usr/sbin/mariadbd", args...)
	if err := server.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}
	client := []string{"mariadb", "--no-defaults", "--socket=" + socket, "bench", "-BNe"}
	create := fmt.Sprintf("CREATE TABLE t (id BINARY(12) PRIMARY KEY, note TEXT); INSERT INTO t SELECT unhex(concat(lpad(hex(1700000000 + seq DIV 10), 8, '0'), 'aabbccddee', lpad(hex(seq), 6, '0'))), 'some text' FROM seq_1_to_%d", tableRows)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		out, err := exec.Command(client[0], append(client[1:], create)...).CombinedOutput()
		if err == nil {
			break
		}
		if time.Now().After(end) {
			stop()
			return nil, nil, fmt.Errorf("%w\n%s", err, out)
		}
	}
	return []contest{tableContest("MariaDB, BINARY(12)", oid, "mysql://root@localhost/bench?socket="+socket+"#t", 12, "mariadb -BNe 'select hex(id)'", append(client, "SELECT hex(id) FROM t")...)}, stop, nil
}

func sqliteTables(dir, oid string) (contests []contest, stop func(), err error) {
	path := filepath.Join(dir, "app.db")
	// Each id has 12 bytes, which are digits.
	create := fmt.Sprintf("CREATE TABLE t (id BLOB PRIMARY KEY, note TEXT); INSERT INTO t SELECT CAST(printf('%%012d', value) AS BLOB), 'some text' FROM generate_series(1, %d)", tableRows)
	if out, err := exec.Command("sqlite3", path, create).CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("%w\n%s", err, out)
	}
	return []contest{tableContest("SQLite, BLOB", oid, "sqlite:"+path+"#t", 12, "sqlite3 'select hex(id)'", "sqlite3", path, "SELECT hex(id) FROM t")}, func() { os.Remove(path) }, nil
}
