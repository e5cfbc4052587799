package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/objectid"
)

// PostgresURL returns the URL of a database on a PostgreSQL server: the one whose URL
// is in the environment variable OID_TEST_POSTGRES, or [SharedPostgres]. A test keeps
// to a [PostgresSchema] of it.
func PostgresURL(t testing.TB) string {
	t.Helper()
	if server := os.Getenv("OID_TEST_POSTGRES"); server != "" {
		return server
	}
	return SharedPostgres(t).URL()
}

var sharedPostgres shared[PostgresServer]

// SharedPostgres returns the PostgreSQL server that the tests of a package share. No
// test ends it.
func SharedPostgres(t testing.TB) *PostgresServer {
	t.Helper()
	return sharedPostgres.get(t, func(t testing.TB) *PostgresServer { return Postgres(t) })
}

// PostgresSchema returns the URL of a schema of a new name, which does not exist
// yet, in the database that the URL server names. It is dropped when the test ends.
func PostgresSchema(t testing.TB, server string) string {
	t.Helper()
	name := "oid_test_" + objectid.New().String()
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return // the test has ended the server
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+name+" CASCADE", pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Errorf("drop schema %s: %v", name, err)
		}
	})
	separator := "?"
	if strings.Contains(server, "?") {
		separator = "&"
	}
	return server + separator + "oid_schema=" + name
}

// PostgresServer is a PostgreSQL server on a free port of the loopback address.
type PostgresServer struct {
	// Addr is where it listens; it keeps the address when it starts again.
	Addr string

	t        testing.TB
	bin      string // the folder of its programs
	data     string // its folder
	settings []string
	process  *Process
}

// postgresUser is the name of the database's superuser.
const postgresUser = "oid"

// Postgres starts a PostgreSQL server with an empty database and settings such as
// "synchronous_commit=off". It does not wait for the disk: its data survives kill -9
// and not a loss of power.
func Postgres(t testing.TB, settings ...string) *PostgresServer {
	t.Helper()
	s := newPostgres(t, settings)
	s.run("initdb", "-D", s.data, "-U", postgresUser, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	s.Start()
	return s
}

func newPostgres(t testing.TB, settings []string) *PostgresServer {
	t.Helper()
	Long(t, "starts PostgreSQL")
	folder := sharedFolder(t)
	return &PostgresServer{
		Addr: fmt.Sprintf("127.0.0.1:%d", FreePort(t)), t: t, settings: settings,
		bin: postgresPrograms(t, folder), data: filepath.Join(folder, "data"),
	}
}

// URL returns the URL of its database.
func (s *PostgresServer) URL() string { return postgresURL(s.Addr) }

// postgresURL returns the URL of the database behind one or several addresses.
func postgresURL(addrs ...string) string {
	return "postgres://" + postgresUser + "@" + strings.Join(addrs, ",") + "/postgres?sslmode=disable"
}

// Start starts the server again after Kill, with the same files, and waits until it
// answers.
func (s *PostgresServer) Start() {
	s.t.Helper()
	_, port, _ := strings.Cut(s.Addr, ":")
	args := []string{"-D", s.data, "-h", "127.0.0.1", "-p", port, "-k", "", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=32MB"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	name, args := unprivileged(s.t, filepath.Join(s.bin, "postgres"), args)
	s.process = Start(s.t, name, args...)
	s.t.Cleanup(s.Kill) // before that of Start, which ends the server alone: a process that was stopped would stay
	s.process.awaitAnswer(s.t, "PostgreSQL", func() error { return s.Try("SELECT 1") })
}

// Kill ends the server and its processes as kill -9 does, and waits until they are
// gone. Killing again does nothing.
func (s *PostgresServer) Kill() {
	if s.process == nil {
		return
	}
	var all []int
	if pid := s.PID(); pid > 0 {
		all = append(children(pid), pid)
		for _, pid := range all {
			_ = send(pid, os.Kill)
		}
	}
	s.process.Stop()
	for _, pid := range all {
		Await(s.t, "end of a process of PostgreSQL", func() error {
			if send(pid, syscall.Signal(0)) == nil {
				return fmt.Errorf("process %d is there", pid)
			}
			return nil
		})
	}
	s.process = nil
}

// Signal sends a signal to the server and its processes. A server that is stopped by
// one starts no process that it misses.
func (s *PostgresServer) Signal(signal os.Signal) {
	s.t.Helper()
	pid := s.PID()
	NoError(s.t, send(pid, signal))
	for _, pid := range children(pid) {
		_ = send(pid, signal) // one of a connection may have ended
	}
}

// send sends a signal to a process.
func send(pid int, signal os.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Signal(signal)
}

// PID returns the process id of the server, or 0 if it has ended.
func (s *PostgresServer) PID() int {
	text, err := os.ReadFile(filepath.Join(s.data, "postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(line)
	return pid
}

// Exec runs a statement on the server as its superuser. An error ends the test.
func (s *PostgresServer) Exec(statement string, args ...any) {
	s.t.Helper()
	if err := s.Try(statement, args...); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

// Try is Exec with an error, for a server that may not answer.
func (s *PostgresServer) Try(statement string, args ...any) error {
	return execPostgres(s.URL(), statement, args...)
}

// execPostgres runs a statement on the database at a URL, which has parameters.
func execPostgres(url, statement string, args ...any) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	conn, err := pgx.Connect(ctx, url+"&connect_timeout=5")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement, args...)
	return err
}

// run runs one of PostgreSQL's programs until it ends.
func (s *PostgresServer) run(program string, args ...string) {
	s.t.Helper()
	name, args := unprivileged(s.t, filepath.Join(s.bin, program), args)
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Dir(s.data)
	Run(s.t, cmd)
}
