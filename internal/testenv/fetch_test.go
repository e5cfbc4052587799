package testenv

import (
	"strings"
	"testing"
)

// What tests fetch or build once and keep is there before the others begin: the first
// time takes minutes, in which a test that waits for it shows nothing.
func TestFetch(t *testing.T) {
	Long(t, "builds and fetches programs")
	if !Whole() {
		t.Skip("fetches programs only if OID_REQUIRE_ALL=1")
	}
	for name := range programs {
		t.Run(name, func(t *testing.T) { built(t, name) })
	}
	for _, p := range npmPackages {
		t.Run(p, func(t *testing.T) {
			at := strings.LastIndexByte(p, '@')
			NodeModules(t, p[:at], p[at+1:])
		})
	}
	for _, p := range pythonPackages {
		t.Run(p, func(t *testing.T) {
			name, version, _ := strings.Cut(p, "==")
			PythonPackage(t, name, version)
		})
	}
	for _, p := range poms {
		t.Run(p, func(t *testing.T) { Jars(t, p) })
	}
	t.Run("PostgreSQL", func(t *testing.T) { mavenPostgres(t) })
	for _, p := range crates {
		t.Run(p, func(t *testing.T) { Crate(t, p) })
	}
}
