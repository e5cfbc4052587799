package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	program := Program(t, "pgbouncer", "pgbouncer")
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
	NoError(t, os.WriteFile(config, []byte(text), 0o644))
	name, args := unprivileged(t, program, []string{config})
	p := Start(t, name, args...)
	uri := postgresURL(fmt.Sprintf("127.0.0.1:%d", own))
	p.awaitAnswer(t, "pgbouncer", func() error { return execPostgres(uri+"&default_query_exec_mode=exec", "SELECT 1") })
	return uri
}
