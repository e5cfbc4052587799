package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oidkit/oid/store"
)

func TestCheckCollection(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "a.b": true, "system": true, strings.Repeat("x", store.MaxName): true,
		"": false, "a\x00": false, "$a": false, ".a": false, "a.": false, "a..b": false, "system.a": false, "\xff": false,
		strings.Repeat("x", store.MaxName+1): false,
	} {
		if err := store.CheckCollection(name); (err == nil) != ok || err != nil && !errors.Is(err, store.ErrCollection) {
			t.Errorf("CheckCollection(%.20q): %v", name, err)
		}
	}
}
