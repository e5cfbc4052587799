package lockfaults

import (
	"strings"

	"github.com/oidkit/oid/internal/testenv"
)

// PostgresEpisodes returns all episodes of PostgreSQL.
func PostgresEpisodes() []Episode {
	return []Episode{
		{Name: "failover behind one name, old connections stay open", open: postgresFailover(lose, false)},
		{Name: "failover behind one name, old connections are closed", open: postgresFailover(lose, true)},
		{Name: "switchover behind one name, the old primary stays, read-only", open: postgresFailover(retire, false)},
		{Name: "read-only (default_transaction_read_only), and back", open: func(l *lab) scene {
			s := testenv.Postgres(l.t)
			return scene{url: s.URL(), begin: func() { readOnly(s, "on") }, end: func() { readOnly(s, "off") }}
		}},
		{Name: "too many clients", open: crowdedPostgres},
	}
}

// postgresFailover returns an episode in which a standby becomes the primary, and the name that
// leads to the old primary moves to it later.
func postgresFailover(promote func(l *lab, primary, standby *testenv.PostgresServer), hangUp bool) func(*lab) scene {
	return func(l *lab) scene {
		primary := testenv.Postgres(l.t)
		standby := primary.Standby()
		name := testenv.NewName(l.t, primary.Addr)
		return scene{
			url: strings.Replace(primary.URL(), primary.Addr, name.Addr, 1), ttl: 4 * episodeTTL,
			begin: func() { promote(l, primary, standby) },
			end: func() {
				name.Move(standby.Addr)
				if hangUp {
					name.HangUp()
				}
			},
		}
	}
}

// lose kills the primary, and makes it the standby of the new primary.
func lose(l *lab, primary, standby *testenv.PostgresServer) {
	primary.Kill()
	promoted(l, standby)
	standby.Adopt(primary)
}

// retire makes the primary read-only, and promotes the standby, which has all its commits.
func retire(l *lab, primary, standby *testenv.PostgresServer) {
	readOnly(primary, "on")
	promoted(l, standby)
}

// promoted makes a standby the primary.
func promoted(l *lab, standby *testenv.PostgresServer) {
	standby.Promote()
	testenv.Await(l.t, "promotion", func() error { return standby.Try("CREATE TABLE IF NOT EXISTS promoted ()") })
}

// readOnly sets whether new transactions are read-only: on or off.
func readOnly(s *testenv.PostgresServer, value string) {
	s.Exec("ALTER SYSTEM SET default_transaction_read_only = " + value)
	s.Exec("SELECT pg_reload_conf()")
}

// crowdedPostgres closes the connections of all workers and accepts none for a while.
func crowdedPostgres(l *lab) scene {
	s := testenv.Postgres(l.t)
	s.Exec("CREATE ROLE worker LOGIN")
	s.Exec("GRANT CREATE ON DATABASE postgres TO worker")
	return scene{url: strings.Replace(s.URL(), "//oid@", "//worker@", 1), begin: func() {
		s.Exec("ALTER ROLE worker CONNECTION LIMIT 0")
		s.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'")
	}, end: func() { s.Exec("ALTER ROLE worker CONNECTION LIMIT -1") }}
}
