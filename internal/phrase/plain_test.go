package phrase_test

import (
	"testing"

	"github.com/oidkit/oid/internal/phrase"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		`inspect: not an id: "zzz"`:                         `not an id: "zzz"`,
		"registry: gpid: invalid gpid":                      "invalid gpid",
		"upload: census: the source is empty":               "upload: the source is empty",
		"a lock: held":                                      "a lock: held",
		"objectid: one\nobjectid: two":                      "one\ntwo",
		"its census: 12 ids; the registry: none, by server": "its census: 12 ids; the registry: none, by server",
	} {
		if got := phrase.Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}
