package testenv

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

//go:embed clock/clock.c
var clockSource []byte

// RedisAt is [Redis] with a clock that is ahead of the right time by skew, in whole
// seconds.
func RedisAt(t testing.TB, skew time.Duration, args ...string) *RedisServer {
	t.Helper()
	if skew == 0 {
		return Redis(t, args...)
	}
	return startRedis(t, []string{
		"env", "LD_PRELOAD=" + clockLibrary(t),
		"OID_CLOCK_OFFSET=" + strconv.Itoa(int(skew/time.Second)),
	}, RedisProgram(t), args)
}

// clockLibrary compiles the library that makes clocks wrong.
func clockLibrary(t testing.TB) string {
	t.Helper()
	gcc := Program(t, "gcc", "gcc libc6-dev")
	source := filepath.Join(t.TempDir(), "clock.c")
	NoError(t, os.WriteFile(source, clockSource, 0o644))
	library := source + ".so"
	Run(t, exec.Command(gcc, "-shared", "-fPIC", "-O2", "-o", library, source))
	return library
}
