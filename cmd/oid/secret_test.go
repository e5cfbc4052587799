package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
)

// A file of tokens or keys may be one that PowerShell or an editor on Windows wrote: with a
// byte order mark, in UTF-8 or in UTF-16.
func TestSecretsInUTF16(t *testing.T) {
	const token = "0123456789abcdeffedcba9876543210"
	key := strings.TrimSpace(oid(t, "", "seal", "--new-key").out)
	id := oid(t, "", "new").out
	for name, write := range map[string]func(text string) (string, error){
		"UTF-8 with a mark":                  unicode.UTF8BOM.NewEncoder().String,
		"UTF-16, as in Windows PowerShell":   unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String,
		"UTF-16 with the greater byte first": unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String,
	} {
		t.Run(name, func(t *testing.T) {
			file := func(text string) string {
				path := filepath.Join(t.TempDir(), "secret")
				data, err := write(text)
				if err == nil {
					err = os.WriteFile(path, []byte(data), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				return path
			}
			tokens, err := readTokens(file("deploy all " + token + "\r\n"))
			if err != nil || len(tokens) != 1 || tokens[0].Value != token || tokens[0].Name != "deploy" {
				t.Errorf("%v, %v", tokens, err)
			}
			keys := file(key + "\r\n")
			sealed := oid(t, id, "seal", "--kind", "order", "--key-file", keys)
			if opened := oid(t, sealed.out, "open", "--kind", "order", "--key-file", keys); opened.out != id {
				t.Errorf("sealed %+v, opened %+v, want %q", sealed, opened, id)
			}
		})
	}
}
