package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oidkit/oid/server"
)

// othersMay returns the permissions that the file at path may not give: those of its group
// and of others. A credential that systemd has put into its folder for this service may be
// readable by its group: an access control list, which systemd sets for the service's user,
// shows as that.
func othersMay(path string) fs.FileMode {
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	if folder != "" && filepath.Dir(path) == filepath.Clean(folder) {
		return 0o037
	}
	return 0o077
}

// readSecret reads a file that only its owner may read.
func readSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&othersMay(path) != 0 && info.Mode()&fs.ModeType == 0 && os.PathSeparator == '/' {
		return nil, fmt.Errorf("%s can be read by others; chmod 600 it", path)
	}
	return os.ReadFile(path)
}

// readTokens reads the tokens from a file that only its owner may read: a token alone,
// or a line "NAME all|read TOKEN" for each.
func readTokens(path string) ([]server.Token, error) {
	data, err := readSecret(path)
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	var all []server.Token
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case len(words) == 1:
			all = append(all, server.Token{Name: "token", Value: words[0]})
		case len(words) == 3 && (words[1] == "all" || words[1] == "read"):
			all = append(all, server.Token{Name: words[0], Value: words[2], ReadOnly: words[1] == "read"})
		default: // without the line, which may hold a token
			return nil, fmt.Errorf("read the token: %s: line %d must hold one word, the token, or three: a name, all or read, and the token", path, n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the token: %s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read the token: %s holds none", path)
	}
	return all, nil
}
