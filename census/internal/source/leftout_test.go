package source_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
)

// TestJournal reads what journalctl prints of messages with ids. In JSON it writes messages with
// colours as lists of bytes, and long ones as null: a census says that it cannot read them.
func TestJournal(t *testing.T) {
	remote, journalctl := testenv.Program(t, "/lib/systemd/systemd-journal-remote", "systemd-journal-remote"), testenv.Program(t, "journalctl", "systemd")
	for name, message := range map[string]string{
		"plain": "order %s failed", "JSON": `{"_id":{"$oid":"%s"}}`, "colours": "\x1b[32m%s\x1b[39m done", "long": strings.Repeat("x", 5000) + " %s",
	} {
		var entries strings.Builder
		for i := range 50 {
			fmt.Fprintf(&entries, "__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%[1]d\n_BOOT_ID=%032d\nMESSAGE=%s\n\n", i+1, 1, fmt.Sprintf(message, fmt.Sprintf("6592008029c8c3e4dc%06x", i)))
		}
		journal := filepath.Join(t.TempDir(), "a.journal")
		write := exec.Command(remote, "-o", journal, "-")
		write.Stdin = strings.NewReader(entries.String())
		testenv.Run(t, write)
		for _, format := range []string{"short", "cat", "verbose", "-a verbose", "export", "json", "json-pretty", "json-seq", "-a json"} {
			args := strings.Fields(format)
			args[len(args)-1] = "--output=" + args[len(args)-1]
			text := testenv.Run(t, exec.Command(journalctl, append(args, "--quiet", "--file", journal)...))
			r, err := read(t, strings.NewReader(text), &census.Options{Format: census.FormatGrep})
			unread := strings.Contains(format, "json") && (name == "colours" || name == "long" && format != "-a json") || format == "verbose" && name == "colours"
			if err != nil || r.Broken() != unread || (r.IDs == 50) == unread {
				t.Errorf("%s of %s: %d ids, broken %v, %v, want %v", format, name, r.IDs, r.Broken(), err, unread)
			}
			if r.Broken() && !strings.HasSuffix(r.Sources[0].Problems[0].Error, "repeat journalctl with -a -o verbose") {
				t.Errorf("%s of %s: %+v", format, name, r.Sources[0].Problems)
			}
		}
	}
}

// TestLeftOut reads an array of which Node does not print all elements.
func TestLeftOut(t *testing.T) {
	node := testenv.Program(t, "node", "nodejs")
	for n, broken := range map[int]bool{100: false, 101: true, 300: true} {
		list := testenv.Run(t, exec.Command(node, "-e", fmt.Sprintf(`console.log(Array.from({ length: %d }, (_, i) => ({ _id: "6592008029c8c3e4dc" + String(i).padStart(6, "0"), n: i })))`, n)))
		r, err := read(t, strings.NewReader(list), nil)
		if r.Strings != 100 || r.Broken() != broken || broken && !strings.Contains(fmt.Sprint(err), "print it with EJSON.stringify(), or use mongoexport") {
			t.Errorf("%d: %d ids, broken %v, %v", n, r.Strings, r.Broken(), err)
		}
	}
}
