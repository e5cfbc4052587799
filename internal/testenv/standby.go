package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
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
	s.copyTo(standby)
	s.replicas("")
	standby.Start()
	s.replicas("*")
	Await(s.t, "synchronous standby", func() error {
		return s.Try("SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
	})
}

// copyTo copies the files of the running server, and makes the copy a standby of s. The package
// of OID_TEST_POSTGRES_PROGRAMS has no pg_basebackup, so this uses the functions for backups.
func (s *PostgresServer) copyTo(standby *PostgresServer) {
	s.t.Helper()
	host, port, _ := strings.Cut(s.Addr, ":")
	if _, err := os.Stat(filepath.Join(s.bin, "pg_basebackup")); err == nil {
		s.run("pg_basebackup", "-D", standby.data, "-h", host, "-p", port, "-U", postgresUser, "-R", "--checkpoint=fast", "--no-sync")
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	conn := Must(pgx.Connect(ctx, s.URL()))(s.t)
	defer conn.Close(ctx)
	Must(conn.Exec(ctx, "SELECT pg_backup_start('standby', true)"))(s.t)
	// cp fails for files that the server removes meanwhile, which the backup does not need.
	_ = exec.Command("cp", "-a", s.data, standby.data).Run()
	var label string
	NoError(s.t, conn.QueryRow(ctx, "SELECT labelfile FROM pg_backup_stop(false)").Scan(&label))
	// The log since the start of the backup, which the copy may lack.
	Run(s.t, exec.Command("cp", "-aT", s.data+"/pg_wal", standby.data+"/pg_wal"))
	NoError(s.t, os.Remove(standby.data+"/postmaster.pid"))
	for file, text := range map[string]string{
		"backup_label": label, "standby.signal": "",
		"postgresql.auto.conf": fmt.Sprintf("primary_conninfo = 'host=%s port=%s user=%s'\n", host, port, postgresUser),
	} {
		NoError(s.t, os.WriteFile(filepath.Join(standby.data, file), []byte(text), 0o600))
	}
	Run(s.t, exec.Command("chown", "-R", "--reference", s.data, standby.data))
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
