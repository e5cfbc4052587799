package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// The commands of a session that use PostgreSQL, and MariaDB.
var (
	databaseCommand = regexp.MustCompile(`\bpsql\b|\bpg_dump\b|\$DATABASE_URL`)
	mariadbCommand  = regexp.MustCompile(`\bmariadb\b`)
)

// databaseClients are the databases of one document. Each is created when it is first
// used.
type databaseClients struct {
	t           *testing.T
	environment []string // for programs of PostgreSQL
	mariadb     []string
}

func newDatabaseClients(t *testing.T) *databaseClients { return &databaseClients{t: t} }

// postgres returns the environment in which psql and its kin use the database.
func (c *databaseClients) postgres() []string {
	c.t.Helper()
	if c.environment != nil {
		return c.environment
	}
	server := testenv.SharedPostgres(c.t)
	name := "docs_" + objectid.New().String()
	server.Exec("CREATE DATABASE " + name)
	config, err := pgx.ParseConfig(server.URL())
	if err != nil {
		c.t.Fatal(err)
	}
	host, port, _ := strings.Cut(server.Addr, ":")
	c.environment = []string{
		"PGHOST=" + host, "PGPORT=" + port, "PGUSER=" + config.User, "PGDATABASE=" + name,
		"DATABASE_URL=postgres://" + config.User + "@" + server.Addr + "/" + name + "?sslmode=disable",
	}
	return c.environment
}

// mysql returns the command of a client that uses the database.
func (c *databaseClients) mysql() []string {
	c.t.Helper()
	if c.mariadb == nil {
		c.mariadb = testenv.MariaDB(c.t)
	}
	return c.mariadb
}

// configureMySQL makes clients with that home folder connect to the server.
func (c *databaseClients) configureMySQL(home string) {
	c.t.Helper()
	for _, arg := range c.mysql() {
		if socket, found := strings.CutPrefix(arg, "--socket="); found {
			if err := os.WriteFile(filepath.Join(home, ".my.cnf"), []byte("[client]\nsocket="+socket+"\n"), 0o600); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// expectedRows finds the comment at the end of a block, which has the rows that its last
// statement prints.
var expectedRows = regexp.MustCompile(`(?m)(?:^-- .*\n)+\z`)

// run runs the statements of a block and compares the rows that they print.
func (c *databaseClients) run(block fencedBlock) {
	c.t.Helper()
	var cmd *exec.Cmd
	statements, mysql := strings.CutPrefix(block.text, "-- MySQL\n")
	if mysql {
		client := c.mysql()
		cmd = exec.Command(client[0], append(client[1:], "--batch", "--skip-column-names")...)
	} else {
		cmd = exec.Command("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator=\t", "--set=ON_ERROR_STOP=1")
		cmd.Env = append(docsEnviron(), c.postgres()...)
	}
	want := strings.ReplaceAll("\n"+expectedRows.FindString(statements), "\n-- ", "\n")
	cmd.Stdin = strings.NewReader(statements)
	out, err := cmd.CombinedOutput()
	got := "\n" + strings.ReplaceAll(string(out), "\t", " | ")
	if err != nil || got != want {
		c.t.Errorf("%s:%d: %v\nprints%s\nwant%s", block.file, block.line, err, got, want)
	}
}
