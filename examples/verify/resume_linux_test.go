package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/oidkit/oid/examples/verify/internal/judge"
)

// resumedBreaks returns what the copies of a command break. Their ids themselves repeat where both
// go on in one second.
func resumedBreaks(t *testing.T, command []string) (v judge.Verification, broken string, code int) {
	t.Helper()
	v, names, code := judged(t, "--resume --ids 500", command)
	return v, strings.TrimSuffix(strings.Join(names, " "), " no-repeats-among-processes"), code
}

// Copies of one stopped process repeat each other's ids, unless the generator notices that it
// was resumed or is told.
func TestVerifyResume(t *testing.T) {
	t.Parallel()
	if missing := criuMissing(); missing != "" {
		t.Skipf("CRIU cannot stop and copy processes here: %s", missing) // it depends on the kernel, too
	}
	shell := []string{"sh", "-c", "oid new -n 500; read line; oid new -n 500"} // another process for each id
	for _, c := range []struct {
		name    string
		command []string
		broken  string
	}{
		{"keeps its value", planted(t, "correct"), "own-value"},
		{"is told", planted(t, "hook"), ""},
		{"looks at the device", planted(t, "vmclock"), ""},
		{"other processes", shell, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, got, code := resumedBreaks(t, c.command)
			if got != c.broken || code != min(len(got), 1) || v.Test != "resume" || v.Processes != 3 || v.IDs != 1500 {
				t.Errorf("code %d, broken: %s, want %s\n%+v", code, got, c.broken, v)
			}
		})
	}
	for command, want := range map[string]string{ // which is not a judgement
		"oid new -n 500":                     "did not wait for a line",
		"oid new -n 5":                       "ended after 5 ids, want 500",
		"oid new -n 500; read line; exit 7":  "copy 1 ended after 0 ids, want 500",
		"oid new -n 500; read line; echo no": "not an id",
	} {
		out, err := exec.CommandContext(t.Context(), "verify", "--resume", "--ids", "500", "--", "sh", "-c", command).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || err.Error() != "exit status 3" {
			t.Errorf("%s: %v, %s, want exit status 3 and %q", command, err, out, want)
		}
	}
}

// Without CRIU, the command forks, and verify says so.
func TestVerifyResumeWithoutCRIU(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"correct": "", "fork keeps": "own-value no-repeats-among-processes"} {
		command := planted(t, kind)
		verify, err := exec.LookPath("verify")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), verify, append([]string{"--resume", "--json", "--ids", "500", "--"}, command...)...)
		cmd.Env = append(os.Environ(), "PATH=/nowhere")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // the exit code is compared below
		var v judge.Verification
		if err := json.Unmarshal(out.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v, %s%s", kind, err, &out, &errs)
		}
		if got := strings.Join(judge.Failed(v.Promises), " "); got != want || v.Test != "fork" || !strings.Contains(errs.String(), "(criu is not installed): the command forks instead") {
			t.Errorf("%s: broken: %q, want %q; test %s\n%s", kind, got, want, v.Test, &errs)
		}
		code := 3 // no verdict
		if want != "" {
			code = 1
		}
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: exit code %d, want %d", kind, got, code)
		}
		for _, p := range v.Promises { // a fork does not show that resumed copies differ
			if (p.Promise == "own-value" || p.Promise == "no-repeats-among-processes") && p.State == judge.Holds {
				t.Errorf("%s: %s holds without CRIU", kind, p.Promise)
			}
		}
	}
}
