package agent_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// forks is a program that starts others. A line "N MS HOW" on its standard input starts N that
// connect to the socket, write a line with an id, wait MS milliseconds, print their pid, the time
// in milliseconds and their ids, and end without reading an answer. With HOW "zombie" their exit
// status is not read.
// With "two" they write two lines. The program prints "done" when all have ended.
const forks = `
import os, socket, sys, time
for words in sys.stdin:
    n, ms, how = words.split()
    pids = []
    for i in range(int(n)):
        pid = os.fork()
        if pid == 0:
            ids = [b"%08x" % int(time.time()) + os.urandom(8).hex().encode() for _ in range(2 if how == "two" else 1)]
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            s.sendall(b"".join(b"oid1 %s name=short\n" % id for id in ids))
            time.sleep(int(ms) / 1000)
            os.write(1, b"%d %d %s\n" % (os.getpid(), time.time() * 1000, b" ".join(ids)))
            os._exit(0)
        pids.append(pid)
        if len(pids) == 20 and how != "zombie":
            for pid in pids:
                os.waitpid(pid, 0)
            pids = []
    for pid in pids:
        os.waitid(os.P_PID, pid, os.WEXITED | (os.WNOWAIT if how == "zombie" else 0))
    os.write(1, b"done\n")
`

// forker is a running program with the text of forks.
type forker struct {
	t   *testing.T
	in  interface{ Write([]byte) (int, error) }
	out *bufio.Scanner
}

func startForker(t *testing.T, socket string) *forker {
	t.Helper()
	child := exec.Command("python3", "-c", forks, socket)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		testenv.Missing(t, "python3 starts programs: "+err.Error())
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	return &forker{t, in, bufio.NewScanner(out)}
}

// life is what a program has printed just before its end.
type life struct {
	pid int
	end time.Time
}

// run starts programs, waits until they have ended, and returns the program of each id.
func (f *forker) run(n, ms int, how string) map[objectid.ID]life {
	f.t.Helper()
	if _, err := fmt.Fprintln(f.in, n, ms, how); err != nil {
		f.t.Fatal(err)
	}
	lives := map[objectid.ID]life{}
	for f.out.Scan() && f.out.Text() != "done" {
		words := strings.Fields(f.out.Text())
		var pid, ms int64
		if _, err := fmt.Sscan(words[0]+" "+words[1], &pid, &ms); err != nil {
			f.t.Fatal(err)
		}
		for _, id := range words[2:] {
			lives[objectid.MustParse(id)] = life{int(pid), time.UnixMilli(ms)}
		}
	}
	if f.out.Text() != "done" {
		f.t.Fatal("the program that starts others has ended")
	}
	return lives
}

// recorded waits until all ids are traced, and returns their processes. Each must have the pid
// of the process that created the id.
func (h *host) recorded(lives map[objectid.ID]life) map[objectid.ID]registry.Status {
	h.t.Helper()
	all, members := map[objectid.ID]registry.Status{}, map[int]objectid.ID{}
	for id, l := range lives {
		var tr registry.Trace
		eventually(h.t, fmt.Sprintf("%v is traced", id), func() bool {
			var err error
			tr, err = h.registry.Trace(h.t.Context(), id)
			return err == nil && tr.Verdict == registry.Claimed
		})
		p := tr.Processes[0]
		if all[id] = p; p.GPID.PID() != l.pid || p.Name != "short" || p.StartUnknown != (p.Kernel.PID == 0) || p.GPID.Start().Before(id.Time().Add(-time.Minute)) {
			h.t.Errorf("%v of process %d: %+v", id, l.pid, p.Process)
		}
		if before, ok := members[l.pid]; ok && before != p.Member {
			h.t.Errorf("process %d is recorded twice", l.pid)
		}
		members[l.pid] = p.Member
		if p.StartUnknown != strings.Contains(tr.Reason, "when the process started is not known") {
			h.t.Errorf("start unknown %v: %s", p.StartUnknown, tr.Reason)
		}
	}
	return all
}

// Programs that end at once, or within 20 ms, and read no answer are recorded, each with its
// pid and its end. If the agent could not look at one in time, the trace says what is not known.
func TestShortLives(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	f := startForker(t, h.socket)
	for _, c := range []struct {
		n, ms int
		how   string
	}{{300, 0, "at-once"}, {100, 20, "soon"}, {20, 0, "zombie"}, {80, 0, "two"}} {
		lives := f.run(c.n, c.ms, c.how)
		unseen, zombies := 0, 0
		for id, p := range h.recorded(lives) {
			eventually(t, "the end is recorded", func() bool { p = h.one(id); return p.End != nil })
			if end := lives[id].end; p.End.Time.Before(end.Add(-time.Millisecond)) || p.End.Time.Sub(end) > 5*time.Second { // the machine may be busy
				t.Errorf("the end is dated %v after it", p.End.Time.Sub(end))
			}
			if p.StartUnknown && !p.From.Equal(id.Time()) {
				t.Errorf("ids from %v, want the time of %v", p.From, id)
			}
			want := "process ended"
			if p.StartUnknown {
				unseen++
				want = "ended before the agent saw it: its program and load are not known"
				if p.Labels["process.user.id"] != fmt.Sprint(syscall.Getuid()) || p.Executable != "" {
					t.Errorf("never seen: %+v", p.Process)
				}
			} else if p.Executable == "" {
				zombies++ // when the agent looked
			}
			if p.Reason != want {
				t.Errorf("ended: %s", p.Reason)
			}
		}
		if t.Logf("%d programs %s: %d were never seen, %d as zombies", c.n, c.how, unseen, zombies); c.how == "zombie" && unseen > 0 {
			t.Errorf("%d zombies were never seen", unseen)
		}
	}
}

// An agent that was stopped does not know when the processes ended that ended meanwhile, and
// records no time of it: of one that was killed, of one that called exec, and of one that
// connected and ended. Afterwards it dates ends again. A program that connected meanwhile is
// recorded.
func TestStopped(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	f := startForker(t, h.socket)
	stays, dies, execs, silent := client(t, h.socket), client(t, h.socket), client(t, h.socket), client(t, h.socket)
	a, _ := stays.join("")
	b, _ := dies.join("")
	c, _ := execs.join("")
	d, _ := silent.join("")
	silent.do("close")
	h.agent.stop()
	dies.signal(syscall.SIGKILL)
	for _, p := range []*program{execs, silent} {
		if _, err := p.in.Write([]byte("exec\n")); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []*program{execs, silent} {
		eventually(t, "the exec", func() bool {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.cmd.Process.Pid))
			return strings.Contains(string(text), "AGENT_TEST=sleep")
		})
	}
	short := f.run(5, 0, "at-once")
	time.Sleep(3 * time.Second)
	if err := h.agent.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	stays.do("connect " + h.socket)
	if again, _ := stays.join(""); h.one(again).Member != h.one(a).Member {
		t.Error("a process that ran all the time is another one")
	}
	for id, p := range h.recorded(short) {
		if p.End != nil {
			t.Errorf("%v, of a program that ended while the agent was stopped: ended %v", id, p.End)
		}
	}
	time.Sleep(2 * interval) // all are measured
	for id, what := range map[objectid.ID]string{b: "killed", c: "replaced by exec", d: "replaced by exec without a connection"} {
		if s := h.one(id); s.End != nil || s.State != registry.Dead || s.Presumed {
			t.Errorf("%s while the agent was stopped: %s (%s), end %v; want dead, without a time", what, s.State, s.Reason, s.End)
		}
	}
	eventually(t, "a heartbeat since the agent went on", func() bool { s := h.one(a); return s.State == registry.Alive && s.Last.Time.After(at) })
	at = time.Now()
	stays.signal(syscall.SIGKILL)
	h.ends(a, at)
}
