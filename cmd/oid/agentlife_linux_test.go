package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// agentLog is the log of a running agent.
type agentLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *agentLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *agentLog) count(want string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), want)
}

// waits waits until the log has want n times.
func (l *agentLog) waits(t *testing.T, n int, want string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); l.count(want) < n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log has %q %d times, want %d:\n%s", want, l.count(want), n, l.text.String())
		}
	}
	if l.count(want) > n {
		t.Errorf("the log has %q %d times, want %d:\n%s", want, l.count(want), n, l.text.String())
	}
}

// startAgent starts an agent that listens on folder/run/s and has its state in
// folder/state/file.
func startAgent(t *testing.T, folder string, more ...string) (*exec.Cmd, *agentLog) {
	t.Helper()
	log := &agentLog{}
	if err := os.MkdirAll(folder+"/state", 0o711); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("oid", append([]string{"agent", "--listen", folder + "/run/s", "--state", folder + "/state/file", "--store", "sqlite:" + folder + "/db", "--mode", "0660", "--interval", "1s"}, more...)...)
	c.Stderr = log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	log.waits(t, 1, "listens on")
	return c, log
}

// say sends lines on a connection to the agent and returns the last answer.
func say(t *testing.T, c net.Conn, lines ...string) (answer string) {
	t.Helper()
	answers := bufio.NewReader(c)
	for _, line := range lines {
		err := c.SetDeadline(time.Now().Add(20 * time.Second))
		if err == nil {
			_, err = fmt.Fprintln(c, line)
		}
		if err == nil {
			answer, err = answers.ReadString('\n')
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return answer
}

// joined records this process with a new id, and returns the id and the connection.
func joined(t *testing.T, socket string) (id string, c net.Conn) {
	t.Helper()
	id = strings.TrimSpace(oidOutput(t, "new"))
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if answer := say(t, c, "oid1 "+id); !strings.HasPrefix(answer, "ok ") {
		t.Fatalf("answer: %s", answer)
	}
	return id, c
}

const (
	logSocketFails = "programs cannot connect"
	logSocketWorks = "programs can connect again"
	logStateFails  = "the state file is not complete"
	logStateWorks  = "the state file is complete again"
)

// What is removed or changed under a running agent is logged once and made again, with its
// permissions. Programs that are connected stay so, and the state file has all of them.
func TestAgentMends(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm          func(folder string) error
		socket, state bool // what is harmed
	}{
		"socket removed":          {func(d string) error { return os.Remove(d + "/run/s") }, true, false},
		"socket moved":            {func(d string) error { return os.Rename(d+"/run/s", d+"/run/old") }, true, false},
		"file in its place":       {func(d string) error { return replace(d+"/run/s", "no socket") }, true, false},
		"folder of the socket":    {func(d string) error { return os.RemoveAll(d + "/run") }, true, false},
		"folder moved":            {func(d string) error { return os.Rename(d+"/run", d+"/old") }, true, false},
		"state removed":           {func(d string) error { return os.Remove(d + "/state/file") }, false, true},
		"folder of the state":     {func(d string) error { return os.RemoveAll(d + "/state") }, false, true},
		"state emptied":           {func(d string) error { return os.Truncate(d+"/state/file", 0) }, false, true},
		"state replaced":          {func(d string) error { return replace(d+"/state/file", "{}\n") }, false, true},
		"state written by others": {func(d string) error { return scribble(d + "/state/file") }, false, true},
		"everything":              {func(d string) error { return errors.Join(os.RemoveAll(d+"/run"), os.RemoveAll(d+"/state")) }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := errors.Join(os.Mkdir(folder+"/run", 0o751), os.Mkdir(folder+"/state", 0o711), os.Chmod(folder+"/run", os.ModeSetgid|0o751)); err != nil {
				t.Fatal(err)
			}
			agent, log := startAgent(t, folder)
			first, c := joined(t, folder+"/run/s")
			time.Sleep(300 * time.Millisecond) // the agent has written the file
			if err := test.harm(folder); err != nil {
				t.Fatal(err)
			}
			if name == "file in its place" {
				log.waits(t, 1, "this is no socket; remove it")
				log.waits(t, 1, logSocketFails)
				return
			}
			began := time.Now()
			for fails, text := range map[string]string{logSocketFails: logSocketWorks, logStateFails: logStateWorks} {
				n := btoi(fails == logSocketFails && test.socket || fails == logStateFails && test.state)
				log.waits(t, n, text)
				log.waits(t, n, fails)
			}
			if took := time.Since(began); took > 5*time.Second { // the machine may be busy
				t.Errorf("it took %v", took)
			}
			second := strings.TrimSpace(oidOutput(t, "new"))
			if answer := say(t, c, "oid1 "+second); !strings.HasPrefix(answer, "ok ") {
				t.Errorf("the connection from before: %s", answer)
			}
			third, _ := joined(t, folder+"/run/s")
			for path, want := range map[string]os.FileMode{"/run": os.ModeDir | os.ModeSetgid | 0o751, "/run/s": os.ModeSocket | 0o660, "/state": os.ModeDir | 0o711} {
				if info, err := os.Stat(folder + path); err != nil || info.Mode() != want {
					t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
				}
			}
			if err := agent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(folder + "/state/file")
			for _, id := range []string{first, second, third} {
				if !strings.Contains(string(text), id) || err != nil {
					t.Errorf("the state file lacks %s: %v\n%s", id, err, text)
				}
			}
			log.waits(t, btoi(test.socket), logSocketFails)
			log.waits(t, btoi(test.state), logStateFails)
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// replace puts another file at path.
func replace(path, text string) error {
	err := os.WriteFile(path+".other", []byte(text), 0o600)
	return errors.Join(err, os.Rename(path+".other", path))
}

// appendTo writes to a file as another program might.
func scribble(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("other\n")
	return errors.Join(err, f.Close())
}

// While the file system of the state file is read-only or full, the agent says so once and
// records processes; afterwards the file has them.
func TestAgentReadOnlyState(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Mkdir(folder+"/state", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", folder+"/state", "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("a file system of its own needs root:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder+"/state", syscall.MNT_DETACH) })
	_, log := startAgent(t, folder)
	joined(t, folder+"/run/s")
	for n, harm := range []struct{ begin, end func() error }{
		{
			func() error {
				return syscall.Mount("tmpfs", folder+"/state", "tmpfs", syscall.MS_RDONLY, "")
			},
			func() error { return syscall.Unmount(folder+"/state", 0) },
		},
		{
			func() error {
				if err := os.WriteFile(folder+"/state/filler", make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
					return fmt.Errorf("fill the disk: %w", err)
				}
				for range 15 { // more than the rest of a page
					joined(t, folder+"/run/s")
				}
				return nil
			},
			func() error { return os.Remove(folder + "/state/filler") },
		},
	} {
		if err := harm.begin(); err != nil {
			t.Fatal(err)
		}
		log.waits(t, n+1, logStateFails)
		id, _ := joined(t, folder+"/run/s")
		time.Sleep(1200 * time.Millisecond) // two looks
		if err := harm.end(); err != nil {
			t.Fatal(err)
		}
		log.waits(t, n+1, logStateWorks)
		log.waits(t, n+1, logStateFails)
		if text, err := os.ReadFile(folder + "/state/file"); err != nil || !strings.Contains(string(text), id) {
			t.Errorf("the state file lacks %s: %v", id, err)
		}
	}
}

// An agent whose socket another agent has replaced says so, once, and leaves it there. It
// takes its path again when the other is killed.
func TestAgentDoesNotFight(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	agent, log := startAgent(t, folder)
	_, c := joined(t, folder+"/run/s")
	if err := errors.Join(agent.Process.Signal(syscall.SIGSTOP), os.Remove(folder+"/run/s"), os.Remove(folder+"/state/file")); err != nil {
		t.Fatal(err)
	}
	other, _ := startAgent(t, folder)
	joined(t, folder+"/run/s")
	if err := agent.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	log.waits(t, 1, "another program serves there")
	log.waits(t, 1, "another agent uses "+folder+"/state/file")
	info, err := os.Stat(folder + "/run/s")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1200 * time.Millisecond) // two looks
	if now, err := os.Stat(folder + "/run/s"); err != nil || !os.SameFile(info, now) {
		t.Errorf("the socket of the other agent: %v", err)
	}
	log.waits(t, 1, "another program serves there")
	log.waits(t, 0, logSocketWorks)
	if answer := say(t, c, "oid1 "+oidOutput(t, "new")); !strings.HasPrefix(answer, "ok ") {
		t.Errorf("the connection from before: %s", answer)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	log.waits(t, 1, logSocketWorks)
	log.waits(t, 1, logStateWorks)
	joined(t, folder+"/run/s")
	// What is at its path when it ends is not removed, unless it is its own.
	if err := replace(folder+"/run/s", "of another program"); err != nil {
		t.Fatal(err)
	}
	_ = agent.Process.Signal(syscall.SIGTERM)
	_ = agent.Wait()
	if _, err := os.Stat(folder + "/run/s"); err != nil {
		t.Errorf("the file of another program: %v", err)
	}
}

// Each refusal is logged once for a process, with its pid and the reason, and counted.
func TestAgentRefusals(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	agent, log := startAgent(t, folder, "--metrics", "unix:"+folder+"/metrics")
	_, c := joined(t, folder+"/run/s")
	for range 3 {
		say(t, c, "garbage", "oid1 507f1f77bcf86cd799439011")
	}
	pid := fmt.Sprintf(" pid=%d user=%d ", os.Getpid(), os.Getuid())
	log.waits(t, 1, "reason=line"+pid)
	log.waits(t, 1, "reason=id"+pid)
	python := exec.Command("python3", "-c", threeLines, folder+"/run/s", "no-id")
	if out, err := python.StdoutPipe(); err != nil {
		t.Fatal(err)
	} else if err := python.Start(); err != nil {
		testenv.Missing(t, err.Error()+"; .ci/setup installs python3")
	} else if answer, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(answer, "error ") {
		t.Errorf("%q, %v", answer, err)
	}
	defer func() { _ = python.Process.Kill(); _ = python.Wait() }()
	log.waits(t, 1, fmt.Sprintf("reason=line pid=%d ", python.Process.Pid))
	log.waits(t, 3, "what a program says is not recorded")
	var metrics string
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(metrics, "\noid_agent_processes 1\n") && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		metrics = string(fetchUnix(t, folder+"/metrics"))
	}
	for _, want := range []string{
		`oid_agent_refused_total{reason="line"} 4`, `oid_agent_refused_total{reason="id"} 3`, `oid_agent_refused_total{reason="limit"} 0`,
		"oid_agent_processes 1", `oid_agent_failing{part="socket"} 0`,
	} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("no %s in %s", want, metrics)
		}
	}
	_ = agent.Process.Signal(syscall.SIGTERM)
	if err := agent.Wait(); err != nil {
		t.Errorf("the agent ends with %v", err)
	}
	for _, path := range []string{"/run/s", "/metrics"} {
		if _, err := os.Stat(filepath.Join(folder, path)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
}

// fetchUnix returns the metrics at a Unix socket.
func fetchUnix(t *testing.T, path string) []byte {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	res, err := client.Get("http://agent/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", res.Status, err)
	}
	return text
}

// The agent cannot make a socket again that systemd has passed, and says what to do. Programs
// that are connected stay so.
func TestAgentRemovedSystemdSocket(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: folder + "/s"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	log := &agentLog{}
	agent := exec.Command("sh", "-c", `LISTEN_PID=$$ exec oid agent --store "sqlite:$0/db"`, folder)
	agent.Env, agent.ExtraFiles, agent.Stderr = append(os.Environ(), "LISTEN_FDS=1"), []*os.File{socket}, log
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agent.Process.Kill(); _ = agent.Wait() }()
	_, c := joined(t, folder+"/s")
	if err := os.Rename(folder+"/s", folder+"/old"); err != nil {
		t.Fatal(err)
	}
	log.waits(t, 1, "restart its unit, whose name ends in .socket")
	if answer := say(t, c, "oid1 "+oidOutput(t, "new")); !strings.HasPrefix(answer, "ok ") {
		t.Errorf("the connection from before: %s", answer)
	}
	time.Sleep(1200 * time.Millisecond) // two looks
	if err := os.Rename(folder+"/old", folder+"/s"); err != nil {
		t.Fatal(err)
	}
	log.waits(t, 1, logSocketWorks)
	log.waits(t, 1, logSocketFails)
	joined(t, folder+"/s")
}

// A token is rotated, first at the server and then in the file of the agent. The agent says
// that it is refused, and records everything when it has the new token, without a restart.
func TestAgentRotatedToken(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rotate := func(file string) {
		t.Helper()
		if err := os.WriteFile(folder+"/"+file, []byte(rand.Text()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rotate("old")
	rotate("new")
	use := func(file, as string) {
		t.Helper()
		text, err := os.ReadFile(folder + "/" + file)
		if err == nil {
			err = replace(folder+"/"+as, string(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	use("old", "of-agent")
	serve := func(address, tokens string) (*exec.Cmd, string) {
		c, said := startOid(t, "serving on http://", "serve", "--listen", address, "--store", "sqlite:"+folder+"/db", "--locks", "file:"+folder, "-q", "--token-file", folder+"/"+tokens)
		return c, regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(said)
	}
	server, address := serve("127.0.0.1:0", "old")
	log := &agentLog{}
	agent := exec.Command("oid", "agent", "--listen", folder+"/s", "--server", "http://"+address, "--token-file", folder+"/of-agent", "--interval", "1s")
	agent.Stderr = log
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	log.waits(t, 1, "listens on")
	joined(t, folder+"/s")
	_ = server.Process.Signal(syscall.SIGTERM)
	_ = server.Wait()
	log.waits(t, 1, "processes cannot be recorded now")
	serve(address, "new")
	id, _ := joined(t, folder+"/s")
	time.Sleep(1200 * time.Millisecond) // another call
	log.waits(t, 0, "processes are recorded again")
	use("new", "of-agent")
	log.waits(t, 1, "processes are recorded again")
	log.waits(t, 1, "processes cannot be recorded now")
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(oidOutput(t, "trace", id, "--store", "sqlite:"+folder+"/db"), "claimed"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is not recorded", id)
		}
	}
}

// An agent ends in order if its store has never answered. If it has no token, it says where the
// token belongs; one that was made up would be of no use.
func TestAgentWithoutStore(t *testing.T) {
	t.Parallel()
	folder, log := t.TempDir(), &agentLog{}
	agent := exec.Command("oid", "agent", "--listen", folder+"/s", "--store", "postgres://127.0.0.1:1/oid")
	agent.Stderr = log
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	log.waits(t, 1, "listens on")
	joined(t, folder+"/s")
	log.waits(t, 1, "processes cannot be recorded now")
	_ = agent.Process.Signal(syscall.SIGTERM)
	if err := agent.Wait(); err != nil {
		t.Errorf("the agent ended with %v: %s", err, log.text.String())
	}
	said, err := exec.Command("oid", "agent", "--listen", folder+"/s", "--server", "http://127.0.0.1:1", "--token-file", folder+"/none").CombinedOutput()
	if err == nil || !strings.Contains(string(said), "/none: no such file or directory; write a token of the server to this file") {
		t.Errorf("without its token the agent says %q, %v", said, err)
	}
}
