package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// databaseCommand finds the commands of a session that use PostgreSQL.
var databaseCommand = regexp.MustCompile(`\bpsql\b|\bpg_dump\b|\$DATABASE_URL`)

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

// expectedRows finds the comment at the end of a block, which has the rows that its last
// statement prints.
var expectedRows = regexp.MustCompile(`(?m)(?:^-- .*\n)+\z`)

// run runs the statements of a block and compares the rows that they print.
func (c *databaseClients) run(block fencedBlock) {
	c.t.Helper()
	var cmd *exec.Cmd
	statements, mysql := strings.CutPrefix(block.text, "-- MySQL\n")
	if mysql {
		if c.mariadb == nil {
			c.mariadb = testenv.MariaDB(c.t)
		}
		cmd = exec.Command(c.mariadb[0], append(c.mariadb[1:], "--batch", "--skip-column-names")...)
	} else {
		cmd = exec.Command("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator=\t", "--set=ON_ERROR_STOP=1")
		cmd.Env = append(os.Environ(), c.postgres()...)
	}
	want := strings.ReplaceAll("\n"+expectedRows.FindString(statements), "\n-- ", "\n")
	cmd.Stdin = strings.NewReader(statements)
	out, err := cmd.CombinedOutput()
	got := "\n" + strings.ReplaceAll(string(out), "\t", " | ")
	if err != nil || got != want {
		c.t.Errorf("%s:%d: %v\nprints%s\nwant%s", block.file, block.line, err, got, want)
	}
}
