package pgstore_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store/pgstore"
)

// TestOpenRefuses: the error says in one sentence what is wrong with the server or the URL. It
// contains the address and not the password.
func TestOpenRefuses(t *testing.T) {
	server := testenv.SharedPostgres(t)
	silent, hangsUp := listen(t, func(c net.Conn) { t.Cleanup(func() { c.Close() }) }), listen(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1000)) // otherwise closing would be a reset
		c.Close()
	})
	for _, test := range []struct{ uri, want string }{
		{"mysql://u:secret@localhost/db", "the URL does not begin with postgres:// or postgresql://"},
		{"postgres://u:secret@localhost/db?oid_schema=pg_x", `oid_schema="pg_x" cannot be the name of a schema`},
		{"postgres://u:secret@" + silent + "/db?connect_timeout=1&sslmode=disable", "PostgreSQL at " + silent + " does not answer (no answer in time); check that it is running and that the URL names its host and port"},
		{"postgres://u:secret@" + hangsUp + "/db?sslmode=disable", "PostgreSQL at " + hangsUp + " does not answer (the connection was closed); check that it is running and that the URL names its host and port"},
		{"postgres://u:secret@" + server.Addr + "/postgres?sslmode=require", "PostgreSQL at " + server.Addr + " does not answer (server refused TLS connection); check that it is running and that the URL names its host and port"},
		{"postgres://nobody:secret@" + server.Addr + "/postgres", "PostgreSQL at " + server.Addr + `: role "nobody" does not exist (SQLSTATE 28000); check the user and the password in the URL`},
		{"postgres://oid:secret@" + server.Addr + "/things", "PostgreSQL at " + server.Addr + `: database "things" does not exist (SQLSTATE 3D000); create the database, or name another one in the URL`},
	} {
		s, err := pgstore.Open(t.Context(), test.uri)
		if err == nil {
			s.Close()
			t.Errorf("Open(%s) succeeded", test.uri)
			continue
		}
		if want := "open PostgreSQL store: " + test.want; err.Error() != want {
			t.Errorf("Open(%s):\ngot  %v\nwant %s", test.uri, err, want)
		}
	}
}

// listen accepts connections until the test ends, and calls serve with one after the other. It
// returns its address.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c)
		}
	}()
	return l.Addr().String()
}

// TestCloseDoesNotWaitForASilentServer: Close does not wait long for a server that does not
// close its connections, including the connection of Listen.
func TestCloseDoesNotWaitForASilentServer(t *testing.T) {
	server := testenv.SharedPostgres(t)
	cable := testenv.NewCable(t, server.Addr)
	s, err := pgstore.Open(t.Context(), testenv.PostgresSchema(t, strings.Replace(server.URL(), server.Addr, cable.Addr, 1)))
	if err != nil {
		t.Fatal(err)
	}
	_, works, stop := s.Listen("topic")
	defer stop()
	testenv.Await(t, "connection that listens", func() error {
		if !works() {
			return errors.New("none")
		}
		return nil
	})
	if _, err := s.Collections(t.Context()); err != nil { // on a connection that is kept
		t.Fatal(err)
	}
	cable.Cut(true, true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Collections(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Collections on a cable that is cut: %v, want DeadlineExceeded", err)
	}
	s.Signal("topic")
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second { // 15 s if it waits for the farewell
		t.Errorf("Close took %v, want a second", took)
	}
	cable.Cut(false, false)
}
