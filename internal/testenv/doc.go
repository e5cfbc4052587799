// Package testenv starts real servers for tests.
//
// A test calls the function of the server it needs, [MongoDB] for one, and gets
// its address. The server listens on a free port of the loopback address, keeps
// its files in the test's temporary folder, and is gone when the test ends, even
// if the test is killed. A test whose server is not to be had is skipped with a
// word on how to get it; with OID_REQUIRE_ALL=1 in the environment it fails.
// Under "go test -short" there is no server but redis-server; see [Long].
//
// A file for another server needs [Start], [Process.Line] or [Await] to learn
// that it is ready, and [Missing].
package testenv

import (
	"os"
	"testing"
)

// Missing ends the test because a server is not to be had; what says what is
// missing and how to get it. The test is skipped, or fails if OID_REQUIRE_ALL=1
// is set.
func Missing(t testing.TB, what string) {
	t.Helper()
	if Whole() {
		t.Fatalf("%s (required because OID_REQUIRE_ALL=1)", what)
	}
	t.Skip(what)
}

// Whole reports whether OID_REQUIRE_ALL=1 is set, as by "make test": the tests are run as
// a whole, which may take minutes. Without it those that could go on for any time are
// shorter, see [Size], since "go test ./..." is what somebody runs first.
func Whole() bool { return os.Getenv("OID_REQUIRE_ALL") == "1" }

// Size returns how much a test does, or how long: whole if the tests are run as a whole,
// see [Whole], else small, with which it still tests what its name says.
func Size[T any](small, whole T) T {
	if Whole() {
		return whole
	}
	return small
}
