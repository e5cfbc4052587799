package testenv

import (
	"fmt"
	"os"
	"strings"
)

// PostgresPair returns the URL of a database on whichever of two servers is the
// primary.
func PostgresPair(a, b *PostgresServer) string {
	return postgresURL(a.Addr, b.Addr) + "&target_session_attrs=read-write"
}

// Standby starts a copy of the server that follows it: from then on the server
// acknowledges a commit when the standby has it too.
func (s *PostgresServer) Standby() *PostgresServer {
	s.t.Helper()
	standby := newPostgres(s.t, s.settings)
	s.Adopt(standby)
	return standby
}

// Adopt makes a server that was killed the standby of s. What it held is replaced.
func (s *PostgresServer) Adopt(standby *PostgresServer) {
	s.t.Helper()
	NoError(s.t, os.RemoveAll(standby.data))
	host, port, _ := strings.Cut(s.Addr, ":")
	s.run("pg_basebackup", "-D", standby.data, "-h", host, "-p", port, "-U", postgresUser, "-R", "--checkpoint=fast", "--no-sync")
	s.replicas("")
	standby.Start()
	s.replicas("*")
	Await(s.t, "synchronous standby", func() error {
		return s.Try("SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
	})
}

// replicas sets which standbys the server waits for.
func (s *PostgresServer) replicas(names string) {
	s.t.Helper()
	s.Exec(fmt.Sprintf("ALTER SYSTEM SET synchronous_standby_names = '%s'", names))
	s.Exec("SELECT pg_reload_conf()")
}

// Promote makes a standby, whose primary is gone, the primary.
func (s *PostgresServer) Promote() {
	s.t.Helper()
	s.Exec("SELECT pg_promote()")
}
