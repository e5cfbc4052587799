package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/examples/verify/internal/judge"
	"github.com/oidkit/oid/internal/testenv"
)

// planted returns the command of a generator with a fault, or of the correct one.
func planted(t *testing.T, kind string) []string {
	t.Helper()
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		testenv.Missing(t, "python3 is not installed: apt-get install python3")
	}
	return []string{"/usr/bin/python3", "testdata/planted.py", kind}
}

// judged runs the judge and returns the judgement, the names of the promises that are
// broken and the exit code.
func judged(t *testing.T, flags string, command []string) (v judge.Verification, broken []string, code int) {
	t.Helper()
	if strings.Contains(flags, "--clock") && fakeTimeLibrary() == "" {
		testenv.Missing(t, errNoFakeTime.Error())
	}
	args := append(append([]string{"--json"}, strings.Fields(flags)...), "--")
	cmd := exec.CommandContext(t.Context(), "verify", append(args, command...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	runErr := cmd.Run()
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("verify %s -- %q: %v, %v in %s%s", flags, command, runErr, err, out.Bytes(), errs.Bytes())
	}
	for _, p := range v.Promises {
		if p.State == "broken" && !p.Allowed {
			broken = append(broken, p.Promise)
		}
	}
	return v, broken, cmd.ProcessState.ExitCode()
}

// Faults of programs are found: the promises that they break, no others, and the cause.
func TestVerifyFindsFaults(t *testing.T) {
	t.Parallel()
	const copies, one, fork, decode = "--ids 2000", "--ids 2000 --copies 1", "--ids 500 --fork", "--decode"
	const moving = "--ids 30000 --copies 1 --clock "
	for _, c := range []struct{ kind, flags, broken, cause string }{
		{"follows", "--order --ids 30000 --copies 1 --clock back", "order", "the clock was set back"},
		{"zone", one, "second", "s ahead of the clock"},
		{"half speed", "--copies 1", "second", "is slow or stands still"},
		{"once", moving + "forward", "second", "the ids keep the second of before"},
		{"31 bits", moving + "wrap", "second", "after 2038-01-19"},
		{"32 bits", moving + "end", "second", "begin again at 1970"},
		{"resets", moving + "wrap", "next-second counter-start", "begins again at 0 with each second"},
		{"pid", copies, "layout", "has the pid"},
		{"same ids", copies + " --clock frozen", "own-value counter-start no-repeats-among-processes", "the process value is the same"},
		{"fork keeps", fork, "own-value no-repeats-among-processes", "the process value is the same"},
		{"fork each", fork, "process-value", "changes from one id to the next"},
		{"blanks", decode, "refuses-other-text", "becomes one without an error"},
		{"twelve", decode, "refuses-other-text", "becomes one without an error"},
		{"no zero", decode, "reads-ids", "cannot be read"},
		{"swaps", decode, "reads-ids", "becomes another one"},
		{"1901", decode, "reads-times", "are read as negative"},
		{"correct", "--ids 20000", "", ""},
		{"correct", "--order --clock frozen --ids 20000", "", ""},
		{"correct", "--order " + moving + "back", "", ""},
		{"correct", "--order " + moving + "forward", "", ""},
		{"correct", "--order " + moving + "wrap", "", ""},
		{"correct", "--order " + moving + "end", "", ""},
		{"correct", fork, "", ""},
		{"correct", decode, "", ""},
	} {
		t.Run(c.kind+c.flags, func(t *testing.T) {
			t.Parallel()
			v, broken, code := judged(t, c.flags, planted(t, c.kind))
			if got := strings.Join(broken, " "); got != c.broken || v.Holds != (got == "") || code != min(len(broken), 1) || v.IDs != v.Wanted {
				t.Fatalf("code %d, broken: %s, want %s\n%+v", code, got, c.broken, v)
			}
			for _, p := range v.Promises {
				if len(broken) > 0 && p.Promise == broken[0] && (!strings.Contains(p.Cause, c.cause) || p.Example == "" || p.Meaning == "") {
					t.Errorf("%+v lacks %q", p, c.cause)
				}
			}
		})
	}
}

// Ctrl-C ends the command and what it has started, and shows no judgement.
func TestVerifyInterrupted(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		pids := filepath.Join(t.TempDir(), "pids")
		cmd := exec.CommandContext(t.Context(), "verify", "--copies", "1", "--", "sh", "-c", "echo 6b0025be0fbc7c8cd4ba1c2e; sleep 1000 & echo $$ $! >"+pids+".new; mv "+pids+".new "+pids+"; wait")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.WaitDelay = 10 * time.Second // a process that is left holds them
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var both []byte
		for both == nil {
			time.Sleep(5 * time.Millisecond)
			both, _ = os.ReadFile(pids)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		overdue := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		overdue.Stop()
		if cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != signal {
			t.Errorf("after %v: %v, want an end by that signal", signal, err)
		}
		if out.Len()+errs.Len() > 0 {
			t.Errorf("after %v: %q, %q", signal, out.String(), errs.String())
		}
		for pid := range strings.FieldsSeq(string(both)) {
			for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
				stat, err := os.ReadFile("/proc/" + pid + "/stat")
				if err != nil || strings.Contains(string(stat), ") Z ") { // ended
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("after %v process %s still runs", signal, pid)
				}
			}
		}
	}
}
