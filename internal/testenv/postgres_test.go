package testenv_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/internal/testenv"
)

func TestPostgresKeepsItsFilesAndAddress(t *testing.T) {
	s := testenv.Postgres(t)
	s.Exec("CREATE TABLE t AS SELECT 7 AS n")
	s.Kill()
	s.Start()
	s.Exec("DELETE FROM t WHERE n = 7")
}

func TestPgBouncerLendsTransactions(t *testing.T) {
	conn := testenv.Must(pgx.Connect(t.Context(), testenv.SharedPgBouncer(t)+"&default_query_exec_mode=exec"))(t)
	defer conn.Close(t.Context())
	var pid uint32
	if err := conn.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil || pid == conn.PgConn().PID() {
		t.Errorf("the server's process is %d and the connection's %d, %v; want another", pid, conn.PgConn().PID(), err)
	}
}
