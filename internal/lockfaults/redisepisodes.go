package lockfaults

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/oidkit/oid/internal/testenv"
)

// Episodes returns all episodes of Redis.
func Episodes() []Episode {
	return []Episode{
		{Name: "failover behind one name, old connections stay open", open: failover(demote, false)},
		{Name: "failover behind one name, old connections are closed", open: failover(demote, true)},
		{Name: "failover behind one name, the old primary hangs", open: failover(hang, false)},
		{Name: "read-only (REPLICAOF), and back", open: commands("READONLY", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE")},
		{Name: "too few replicas (NOREPLICAS), and back", open: commands("NOREPLICAS", "CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0")},
		{Name: "no right to write (NOPERM), and back", Final: true, open: commands("NOPERM", "ACL SETUSER default -@write", "ACL SETUSER default +@all")},
		{Name: "a snapshot failed (MISCONF)", open: misconf},
		{Name: "memory is full (OOM)", Renews: true, open: commands("OOM", "CONFIG SET maxmemory 1mb", "CONFIG SET maxmemory 0")},
		{Name: "Redis starts and loads its data (LOADING)", open: loading},
		{Name: "too many clients", open: crowded},
		{Name: "a script runs (BUSY)", open: busyScript},
	}
}

// commands returns an episode between two commands. Meanwhile a write fails with the code.
func commands(code, begin, end string) func(*lab) scene {
	return func(l *lab) scene {
		s := testenv.Redis(l.t)
		l.server = s
		return scene{url: s.URL(), begin: func() {
			s.CLI(strings.Fields(begin)...)
			l.refuses(s, code, "SET", "probe", "x")
		}, end: func() { s.CLI(strings.Fields(end)...) }}
	}
}

// refuses waits until Redis refuses a command with a code.
func (l *lab) refuses(s *testenv.RedisServer, code string, command ...string) {
	l.t.Helper()
	testenv.Await(l.t, code, func() error {
		if _, err := s.Try(command...); err == nil || !strings.Contains(err.Error(), code) {
			return fmt.Errorf("%s: error %v, want %s", command, err, code)
		}
		return nil
	})
}

// failover returns an episode in which a replica becomes the primary, and the name that leads
// to the old primary moves to it later.
func failover(promote func(l *lab, primary, replica *testenv.RedisServer), hangUp bool) func(*lab) scene {
	return func(l *lab) scene {
		primary := testenv.Redis(l.t, "--repl-diskless-sync-delay", "0")
		host, port, _ := strings.Cut(primary.Addr, ":")
		replica := testenv.Redis(l.t, "--replicaof", host, port)
		replica.Await("master_link_status:up", "INFO", "replication")
		l.server = replica
		name := testenv.NewName(l.t, primary.Addr)
		return scene{url: "redis://" + name.Addr, begin: func() { promote(l, primary, replica) }, end: func() {
			name.Move(replica.Addr)
			if hangUp {
				name.HangUp()
			}
		}}
	}
}

// demote makes the replica the primary and the primary its replica, as services do.
func demote(l *lab, primary, replica *testenv.RedisServer) {
	primary.CLI("FAILOVER")
	replica.Await("master", "ROLE")
	l.refuses(primary, "READONLY", "SET", "probe", "x")
}

// hang stops the primary with all its connections.
func hang(l *lab, primary, replica *testenv.RedisServer) {
	process := testenv.Must(os.FindProcess(primary.PID()))(l.t)
	l.inStep(primary, replica)
	testenv.NoError(l.t, process.Signal(stopSignal))
	replica.CLI("REPLICAOF", "NO", "ONE")
}

// misconf makes Redis refuse writes because it could not write a snapshot: a folder has the
// name of the file.
func misconf(l *lab) scene {
	dir := filepath.Join(l.t.TempDir(), "data")
	testenv.NoError(l.t, os.Mkdir(dir, 0o777))
	s := testenv.Redis(l.t, "--dir", dir, "--stop-writes-on-bgsave-error", "yes")
	s.CLI("CONFIG", "SET", "save", "3600 1000000") // only who wants snapshots is told that one failed
	l.server = s
	obstacle := filepath.Join(dir, "dump.rdb")
	snapshot := func(status string) {
		s.CLI("BGSAVE")
		s.Await("rdb_last_bgsave_status:"+status, "INFO", "persistence")
	}
	return scene{url: s.URL(), begin: func() {
		testenv.NoError(l.t, os.Mkdir(obstacle, 0o777))
		snapshot("err")
		l.refuses(s, "MISCONF", "SET", "probe", "x")
	}, end: func() {
		testenv.NoError(l.t, os.Remove(obstacle))
		snapshot("ok")
	}}
}

// loading restarts Redis, which then loads many keys slowly.
func loading(l *lab) scene {
	testenv.RedisKnows(l.t, "loading-process-events-interval-bytes")
	s := testenv.Redis(l.t, "--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024")
	l.server = s
	s.CLI("EVAL", "for i = 1, 1000 do redis.call('SET', 'filler:' .. i, string.rep('x', 2048)) end", "0")
	return scene{url: s.URL(), begin: s.Reload, end: func() {
		s.CLI("CONFIG", "SET", "key-load-delay", "0")
		s.Await("PONG", "PING")
		s.CLI("EVAL", "for i = 1, 1000 do redis.call('DEL', 'filler:' .. i) end", "0")
	}}
}

// crowded closes the connections of all workers, while others have all the places.
func crowded(l *lab) scene {
	s := testenv.Redis(l.t)
	l.server = s
	const others = 32 // Redis wants to have some files open besides its clients
	var conns []net.Conn
	for range others {
		conns = append(conns, testenv.Must(net.Dial("tcp", s.Addr))(l.t))
		say(l, conns[len(conns)-1], "CLIENT SETNAME other")
	}
	l.t.Cleanup(func() {
		for _, c := range conns {
			c.Close()
		}
	})
	return scene{url: s.URL(), begin: func() {
		clients := s.CLI("CLIENT", "LIST")
		say(l, conns[0], fmt.Sprintf("CONFIG SET maxclients %d", others))
		for line := range strings.Lines(clients) {
			if id := strings.Fields(line)[0]; !strings.Contains(line, "name=other") {
				say(l, conns[0], "CLIENT KILL ID "+strings.TrimPrefix(id, "id="))
			}
		}
		l.refuses(s, "max number of clients", "PING")
	}, end: func() {
		say(l, conns[0], "CONFIG SET maxclients 10000")
	}}
}

// say sends a command on a connection of its own, and reads the first line of the reply.
func say(l *lab, c net.Conn, command string) {
	testenv.Must(fmt.Fprintf(c, "%s\r\n", command))(l.t)
	testenv.Must(bufio.NewReader(c).ReadString('\n'))(l.t)
}

// busyScript lets a script of another client run.
func busyScript(l *lab) scene {
	s := testenv.Redis(l.t, "--lua-time-limit", "100")
	l.server = s
	return scene{url: s.URL(), begin: func() {
		go s.Try("EVAL", "while true do end", "0")
		l.refuses(s, "BUSY", "GET", "x")
	}, end: func() { s.CLI("SCRIPT", "KILL") }}
}
