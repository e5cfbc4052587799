package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/internal/verify"
	"github.com/oidkit/oid/server/wire"
)

// planted returns the command of a generator with a fault, or of the correct one.
func planted(t *testing.T, kind string) []string {
	t.Helper()
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		testenv.Missing(t, "python3 is not installed: apt-get install python3")
	}
	return []string{"/usr/bin/python3", "testdata/verify/planted.py", kind}
}

// judged runs oid verify and returns the judgement.
func judged(t *testing.T, wantCode int, flags string, command []string) wire.Verification {
	t.Helper()
	v, code := verification(t, flags, command)
	if code != wantCode {
		t.Fatalf("oid verify %s -- %q: code %d, want %d\n%+v", flags, command, code, wantCode, v)
	}
	return v
}

// verification returns what oid verify says of a command, and its exit code.
func verification(t *testing.T, flags string, command []string) (v wire.Verification, code int) {
	t.Helper()
	if _, err := (&fakeClock{Clock: verify.NewClock(verify.Frozen, time.Now())}).environment(); strings.Contains(flags, "--clock") && err != nil {
		testenv.Missing(t, err.Error())
	}
	args := append(append([]string{"verify", "--json"}, strings.Fields(flags)...), "--")
	got := oid(t, "", append(args, command...)...)
	if err := json.Unmarshal([]byte(got.out), &v); err != nil {
		t.Fatalf("oid verify %s -- %q: code %d, %v in %s%s", flags, command, got.code, err, got.out, got.err)
	}
	return v, got.code
}

// Each fault is found: the promises that it breaks, no others, and the sentence says
// what that means.
func TestVerifyFindsFaults(t *testing.T) {
	const copies, one, fork, decode = "--ids 2000", "--ids 2000 --copies 1", "--ids 500 --fork", "--decode"
	const moving = "--ids 20000 --copies 1 --clock "
	for _, c := range []struct {
		kind, flags, broken, meaning string
	}{
		{"twice", one, "no-repeats", "E11000"},
		{"follows", moving + "back", "order", "After the clock was set back"},
		{"overflow reversed", one, "counter-wrap", "When the counter overflows"},
		{"zone", one, "second", "later than their creation"},
		{"late", one, "second", "earlier than their creation"},
		{"once", moving + "forward", "second", "does not read the clock"},
		{"31 bits", moving + "wrap", "order second", "after 2038-01-19"},
		{"32 bits", moving + "end", "order second", "begin again at 1970"},
		{"value each", one, "process-value", "cannot be recognised"},
		{"skips", one, "counter-step", "fewer ids fit"},
		{"resets", moving + "wrap", "counter-step", "begins again with each second"},
		{"shared value", copies, "own-value", "the same ids as soon as"},
		{"pid", copies, "layout", "most pids are 1"},
		{"starts at 0", copies, "counter-start", "from their first one on"},
		{"same ids", copies + " --clock frozen", "own-value counter-start no-repeats-among-copies", "Two processes create the same id"},
		{"fork keeps", fork, "own-value-after-fork no-repeats-after-fork", "A child goes on with"},
		{"fork each", fork, "process-value", "After a fork each id"},
		{"blanks", decode, "refuses-other-text", "becomes one without an error"},
		{"twelve", decode, "refuses-other-text", "becomes one without an error"},
		{"no zero", decode, "reads-ids", "cannot be read"},
		{"swaps", decode, "reads-ids", "becomes another one"},
		{"1901", decode, "reads-times", "wrong creation time"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			v := judged(t, exitFailed, c.flags, planted(t, c.kind))
			var broken, meanings []string
			for _, p := range v.Promises {
				if p.State == "broken" {
					broken, meanings = append(broken, p.Promise), append(meanings, p.Meaning)
					if p.Example == "" || p.Times == 0 || p.Text == "" {
						t.Errorf("%+v lacks something", p)
					}
				}
			}
			want := strings.Fields(c.broken)
			if broken = slices.Compact(broken); v.Holds || !slices.Equal(broken, want) {
				t.Errorf("broken: %v, want %v\n%+v", broken, want, v.Promises)
			}
			if !strings.Contains(strings.Join(meanings, "\n"), c.meaning) {
				t.Errorf("no sentence has %q: %q", c.meaning, meanings)
			}
		})
	}
}

// A correct generator in Python, and oid itself, pass all tests.
func TestVerifyPassesCorrectGenerators(t *testing.T) {
	const moving = "--ids 20000 --copies 1 --clock "
	for _, flags := range []string{
		"--ids 20000", "--ids 20000 --clock frozen", moving + "back", moving + "forward", moving + "wrap", moving + "end",
		"--ids 500 --fork", "--decode",
	} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			if v := judged(t, exitDone, flags, planted(t, "correct")); !v.Holds || v.IDs == 0 || len(v.Promises) == 0 {
				t.Errorf("%+v", v)
			}
		})
	}
	v := judged(t, exitDone, "--ids 2000 --copies 1", planted(t, "overflow"))
	if i := slices.IndexFunc(v.Promises, func(p wire.Promise) bool { return p.Promise == "counter-wrap" }); v.Promises[i].State != "holds" {
		t.Errorf("an overflow in order: %+v", v.Promises[i])
	}
	for _, layout := range []string{"modern", "java"} { // classic has host and pid
		judged(t, exitDone, "--ids 300000 --copies 3", []string{"oid", "new", "-n", "300000", "--layout", layout})
	}
}

// Ctrl-C ends the command and what it has started, and shows no judgement.
func TestVerifyInterrupted(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		pids := filepath.Join(t.TempDir(), "pids")
		cmd := exec.CommandContext(t.Context(), "oid", "verify", "--copies", "1", "--", "sh", "-c", "echo 6b0025be0fbc7c8cd4ba1c2e; sleep 1000 & echo $$ $! >"+pids+".new; mv "+pids+".new "+pids+"; wait")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var both []byte
		for both == nil {
			time.Sleep(5 * time.Millisecond)
			both, _ = os.ReadFile(pids)
		}
		checkSignal(t, "verify", cmd, signal, nil)
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

// At a terminal the progress is shown, but not with --quiet.
func TestVerifyShowsProgress(t *testing.T) {
	for _, flags := range []string{"", "--quiet"} {
		master, slave := terminal(t)
		shown := make(chan string)
		go func() {
			b, _ := io.ReadAll(master) // ends with an error when the last slave is closed
			shown <- string(b)
		}()
		args := append(append([]string{"verify"}, strings.Fields(flags)...), "--ids", "1000000", "--", "oid", "new", "-n", "1000000")
		if code := run(t.Context(), streams{strings.NewReader(""), io.Discard, slave}, args); code != exitDone {
			t.Errorf("code %d", code)
		}
		slave.Close()
		if text := <-shown; (flags == "") != strings.Contains(text, "oid: verifying") {
			t.Errorf("%q: shown: %q", flags, text)
		}
	}
}
