package registry_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// A server replaces itself with exec to load a new version: it keeps its pid and
// the time at which the kernel started it. The run before has ended all the same,
// and each id is traced to the run that created it.
func TestExecEndsARun(t *testing.T) {
	t.Parallel()
	for name, addr := range map[string]string{"server": "127.0.0.1:9310", "does not listen": ""} {
		file := t.TempDir() + "/registry.db"
		s := openStore(t, file)
		r := registry.New(s, nil)
		p := start(t, file, addr, time.Hour, false)
		p.join()
		p.make(3)
		before, created := p.gpid, p.ids
		p.exec()
		if st := statusOf(t, r, before); st.State != registry.Dead || !strings.Contains(st.Reason, "replaced by exec") {
			t.Errorf("%s: before the new program registers: %s (%s), want replaced by exec", name, st.State, st.Reason)
		}
		p.ids = nil
		p.join()
		p.make(3)
		if p.gpid == before {
			t.Fatalf("%s: both programs are %v", name, before)
		}
		st := statusOf(t, r, before)
		if st.State != registry.Dead || st.Presumed || !strings.Contains(st.Reason, "replaced by exec") {
			t.Errorf("%s: the program before: %s (%s), want replaced by exec", name, st.State, st.Reason)
		}
		if addr != "" && st.Successor != p.gpid {
			t.Errorf("%s: successor %v, want %v", name, st.Successor, p.gpid)
		}
		if st := statusOf(t, r, p.gpid); st.State != registry.Alive {
			t.Errorf("%s: the new program: %s (%s), want alive", name, st.State, st.Reason)
		}
		for _, id := range created {
			if tr := trace(t, r, id); tr.Verdict != registry.Known || tr.Processes[0].GPID != before {
				t.Errorf("%s: id of the program before: %s (%s)", name, tr.Verdict, tr.Reason)
			}
		}
		for _, id := range p.ids {
			if tr := trace(t, r, id); !tr.Certain || tr.Processes[0].GPID != p.gpid {
				t.Errorf("%s: id of the new program: %s (%s)", name, tr.Verdict, tr.Reason)
			}
		}
		// An id of the program before from much later is not its own.
		if tr := trace(t, r, later(created[0], 60)); tr.Verdict != registry.Conflict {
			t.Errorf("%s: id of the program before, a minute after the exec: %s (%s), want conflict", name, tr.Verdict, tr.Reason)
		}
		p.kill()
	}
}

// An adopted process that starts another program has ended: the ids of the new
// program have another process value.
func TestExecEndsAnAdoptedProcess(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	cmd := exec.Command("sh", "-c", "echo running; read line; exec sleep 600")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 1)); err != nil { // Start does not wait for the end of its exec
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	m, err := adopt(t.Context(), s, objectid.New(), options{PID: cmd.Process.Pid, Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	time.Sleep(3 * 500 * time.Millisecond) // it looks twice a second
	select {
	case <-m.Done():
		t.Fatal("the member has ended while the shell waits")
	default:
	}
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the process runs another program, and the member goes on")
	}
	if st := statusOf(t, registry.New(s, nil), m.GPID()); st.State != registry.Ended || st.Reason != "replaced by exec" {
		t.Errorf("after exec: %s (%s), want ended, replaced by exec", st.State, st.Reason)
	}
}
