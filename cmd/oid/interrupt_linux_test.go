package main

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// readers are the commands that read standard input, with what they wait for.
var readers = map[string]string{
	"inspect":           "ids",
	"trace":             "ids",
	"seal --kind order": "ids",
	"open --kind order": "sealed ids",
	"annotate":          "a log",
	"get events":        "ids",
	"insert events":     "documents",
	"census -":          "the source",
}

// A command whose help speaks of standard input is in readers.
func TestReadersAreComplete(t *testing.T) {
	listed := map[string]bool{}
	for command := range readers {
		listed[strings.Fields(command)[0]] = true
	}
	root, _ := newRoot(streams{})
	for _, c := range root.Commands() {
		if c.Runnable() && strings.Contains(strings.Join(strings.Fields(c.Long), " "), "standard input") && !listed[c.Name()] {
			t.Errorf("oid %s reads standard input: add a line to readers with what it waits for", c.Name())
		}
	}
}

// At a terminal each command says what it waits for. Ctrl-C ends it.
func TestCtrlCWhileReading(t *testing.T) {
	s := interactiveShell(t, "OID_STORE="+storeWithDocument(t), "OID_SEAL_KEYS="+strings.Repeat("0f", 32))
	for command, what := range readers {
		s.run("oid " + command)
		s.expect("oid: reading " + what + " from the terminal; end with Ctrl-D")
		s.press(ctrlC)
		s.expect(prompt)
		s.run("echo code=$?")
		if shown := s.expect(`code=\d+`); !strings.HasSuffix(shown, "code=130") {
			t.Errorf("oid %s: %q, want code 130", command, shown)
		}
		s.expect(prompt)
	}
}

// SIGTERM and SIGINT end a command that waits for its input, before and after the
// first line, without a message. A shell reports code 143 and 130.
func TestSignalsWhileReading(t *testing.T) {
	t.Setenv("OID_STORE", storeWithDocument(t))
	t.Setenv("OID_SEAL_KEYS", strings.Repeat("0f", 32))
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for command := range readers {
			_, slave := terminal(t)
			defer slave.Close()
			cmd := exec.CommandContext(t.Context(), "oid", strings.Fields(command)...) // TestMain has put it into the path
			cmd.Stdin = slave
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stderr)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines.Scan() // it waits
			checkSignal(t, command, cmd, signal, lines)
		}
		for command, line := range map[string]string{"inspect": "507f1f77bcf86cd799439011", "trace": "507f1f77bcf86cd799439011", "insert events": "{}"} {
			cmd := exec.CommandContext(t.Context(), "oid", strings.Fields(command)...)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := in.Write([]byte(line + "\n")); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			lines.Scan() // it has answered, and waits for the next line
			for command == "inspect" && !strings.Contains(lines.Text(), "counter 439011") && lines.Scan() {
			}
			checkSignal(t, command, cmd, signal, nil)
		}
	}
}

// Ctrl-C shows what a census has counted, marked as partial.
func TestInterruptedCensus(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "oid", "census")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const lines = 400_000 // far more than fits into pipes and blocks
	if _, err := io.WriteString(in, strings.Repeat("507f1f77bcf86cd799439011\n", lines)); err != nil {
		t.Fatal(err)
	}
	checkSignal(t, "census", cmd, syscall.SIGINT, nil)
	shown := out.String()
	if !strings.HasPrefix(shown, "PARTIAL: interrupted by signal: interrupt") || strings.Contains(shown, "ids       0") || !strings.Contains(shown, " 1 different") {
		t.Errorf("stdout: %s", shown)
	}
	if errs.String() != "oid: interrupted by signal: interrupt: the report is partial\n" {
		t.Errorf("stderr: %s", errs.String())
	}
}

// checkSignal sends a signal to a command that waits for its input.
func checkSignal(t *testing.T, name string, cmd *exec.Cmd, signal syscall.Signal, stderr *bufio.Scanner) {
	t.Helper()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer overdue.Stop()
	for stderr != nil && stderr.Scan() {
		t.Errorf("oid %s: after %v it says %q", name, signal, stderr.Text())
	}
	if err := cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != signal {
		t.Errorf("oid %s: after %v: %v, want an end by that signal", name, signal, err)
	}
}

// storeWithDocument returns the URL of a store with one document.
func storeWithDocument(t *testing.T) string {
	t.Helper()
	url := "sqlite:" + filepath.Join(t.TempDir(), "s.db")
	if got := oid(t, "", "insert", "--store", url, "events", "{}"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	return url
}
