//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Only the owner may read a file of tokens, and the group a credential of systemd.
func TestWhoMayReadTokens(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		credentials string
		mode        fs.FileMode
		refused     bool
	}{
		{"", 0o400, false},
		{"", 0o600, false},
		{"", 0o440, true},
		{"", 0o404, true},
		{folder, 0o400, false},
		{folder, 0o440, false},
		{folder + "/", 0o440, false},
		{folder, 0o460, true},
		{folder, 0o450, true},
		{folder, 0o404, true},
		{filepath.Dir(folder), 0o440, true},
	} {
		path := filepath.Join(folder, "tokens")
		if err := os.WriteFile(path, []byte("a-token-of-some-length"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		t.Setenv("CREDENTIALS_DIRECTORY", c.credentials)
		if tokens, err := readTokens(path); (err != nil) != c.refused || err == nil && len(tokens) != 1 {
			t.Errorf("mode %o, credentials in %q: %v, %v; want refused: %v", c.mode, c.credentials, tokens, err, c.refused)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
