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
	for what, fetch := range map[string]func(t *testing.T) error{
		"FerretDB":  func(*testing.T) error { _, err := buildFerretDB(); return err },
		"manifests": func(*testing.T) error { _, err := buildNested("manifests"); return err },
		"openapi":   func(*testing.T) error { _, err := buildNested("openapi"); return err },
		"generator": func(*testing.T) error { _, err := generator(); return err },
	} {
		t.Run(what, func(t *testing.T) {
			if err := fetch(t); err != nil {
				Missing(t, what+": "+err.Error())
			}
		})
	}
	for _, p := range npmPackages {
		t.Run(p, func(t *testing.T) {
			at := strings.LastIndexByte(p, '@')
			npm(t, p[:at], p[at+1:])
		})
	}
}
