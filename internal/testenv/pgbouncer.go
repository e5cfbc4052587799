package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

var sharedPgBouncer shared[string]

// SharedPgBouncer returns the URL of the database of [SharedPostgres] behind the
// pgbouncer that the tests of a package share.
func SharedPgBouncer(t testing.TB) string {
	t.Helper()
	s := SharedPostgres(t)
	return *sharedPgBouncer.get(t, func(t testing.TB) *string {
		uri := PgBouncer(t, s)
		return &uri
	})
}

// PgBouncer starts a pgbouncer in front of the server that lends its connections
// for one transaction each, and returns the URL of the database behind it.
func PgBouncer(t testing.TB, s *PostgresServer) string {
	t.Helper()
	Long(t, "starts pgbouncer")
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; exec.Command(program, "--version").Run() != nil {
			Missing(t, "pgbouncer is not installed: apt-get install pgbouncer")
		}
	}
	host, port, _ := strings.Cut(s.Addr, ":")
	own := FreePort(t)
	config := filepath.Join(sharedFolder(t), "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 500
`, host, port, postgresUser, own)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	name, args := unprivileged(t, program, []string{config})
	p := Start(t, name, args...)
	uri := postgresURL(fmt.Sprintf("127.0.0.1:%d", own))
	Await(t, "answer of pgbouncer", func() error {
		select {
		case <-p.done:
			t.Fatalf("pgbouncer ended: %s", p.Output())
		default:
		}
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		conn, err := pgx.Connect(ctx, uri+"&default_query_exec_mode=exec")
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
	return uri
}
