package testenv

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// lasting is a test whose servers and folders outlive it: the guard of its server
// ends the server and removes the folders when this process ends, in whatever way.
type lasting struct {
	testing.TB
	folder string
}

func (l *lasting) Cleanup(func()) {}

// TempDir is called once.
func (l *lasting) TempDir() string {
	l.Helper()
	folder, err := os.MkdirTemp("", "oid-test-*")
	if err == nil {
		l.folder = folder
		folder = filepath.Join(folder, "001")
		err = os.Mkdir(folder, 0o755)
	}
	if err != nil {
		l.Fatal(err)
	}
	return folder
}

// shared is a server that the tests of a package share. The first that asks starts it.
type shared[Server any] struct {
	mu     sync.Mutex
	server *Server
}

func (s *shared[Server]) get(t testing.TB, start func(testing.TB) *Server) *Server {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		s.server = start(&lasting{TB: t})
	}
	return s.server
}
