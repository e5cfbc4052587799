package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgress counts with a terminal for standard error: it shows how far the
// census is and how fast, in bytes that are called so, and nothing with --quiet.
func TestProgress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(file, []byte(strings.Repeat("6592008029c8c3e4dc762501\n", 200_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), "ids.zip")
	if out, err := exec.Command("zip", "-q", "-0", packed, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"census", file}, {"census", packed}, {"census", "--quiet", file}} {
		master, slave := terminal(t)
		shown := make(chan string)
		go func() {
			b, _ := io.ReadAll(master) // ends with an error when the last slave is closed
			shown <- string(b)
		}()
		if code := run(t.Context(), streams{strings.NewReader(""), io.Discard, slave}, args); code != exitDone {
			t.Errorf("%v: exit code %d", args, code)
		}
		slave.Close()
		text := <-shown
		if quiet := len(args) == 3; quiet != (text == "") {
			t.Errorf("%v: shown on the terminal: %q", args, text)
		} else if !quiet && (!strings.Contains(text, "oid: reading") || !strings.Contains(text, "B/s") || !strings.Contains(text, "5.0 MB") || strings.Contains(text, "documents") || strings.Contains(text, "it/s")) {
			t.Errorf("%v: no progress with a rate in %q", args, text)
		}
	}
}
