package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// threeLines are what a program in Python has to do.
const threeLines = `
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"oid1 %s name=shop\n" % sys.argv[2].encode())
print(s.recv(200).decode(), end="", flush=True)
time.sleep(600)
`

// startOid starts the command and waits until it says want on standard error.
func startOid(t *testing.T, want string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	c := exec.Command("oid", args...)
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	lines, said := bufio.NewScanner(out), ""
	for lines.Scan() {
		if said += lines.Text() + "\n"; strings.Contains(said, want) {
			go func() {
				for lines.Scan() {
					t.Log(lines.Text())
				}
			}()
			return c, said
		}
	}
	t.Fatalf("oid %s: %s", strings.Join(args, " "), said)
	return nil, ""
}

// A program in Python connects, to an agent with a store and to one with a server that
// goes away for a while; it is killed, and all of it is recorded.
func TestAgentPrograms(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		testenv.Missing(t, "python3 is not installed")
	}
	for _, where := range []string{"store", "server"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			store, socket := "sqlite:"+filepath.Join(folder, "registry.db"), filepath.Join(folder, "run", "agent.sock")
			args := []string{"agent", "--listen", socket, "--interval", "1s"}
			address := "127.0.0.1:0"
			serve := func() *exec.Cmd {
				c, said := startOid(t, "serving on http://", "serve", "--listen", address, "--store", store, "--locks", "file:"+folder, "-q")
				address = regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(said)
				return c
			}
			var server *exec.Cmd
			if where == "server" {
				server = serve()
				args = append(args, "--server", "http://"+address)
			} else {
				args = append(args, "--store", store)
			}
			startOid(t, "listens on", args...)
			start := func() (id string, p *exec.Cmd, answer string) {
				id = strings.TrimSpace(oidOutput(t, "new"))
				p = exec.Command(python, "-c", threeLines, socket, id)
				out, err := p.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
				time.Sleep(time.Second) // the id is not older than the program
				answer, err = bufio.NewReader(out).ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				return id, p, answer
			}
			id, p, answer := start()
			if !regexp.MustCompile(`^ok [0-9a-f]{16} [0-9.]+:0:\d{16}:` + fmt.Sprint(p.Process.Pid) + "\n$").MatchString(answer) {
				t.Fatalf("answer: %q", answer)
			}
			traced := func(id, want string) {
				t.Helper()
				last := ""
				for deadline := time.Now().Add(20 * time.Second); !regexp.MustCompile(want).MatchString(last); time.Sleep(100 * time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatalf("trace of %s: %s, want %s", id, last, want)
					}
					last = oidOutput(t, "trace", id, "--store", store)
				}
			}
			traced(id, `(?s)claimed by shop.*python.*alive: process \d+ of this host runs`)
			if ps := oidOutput(t, "ps", "--name", "shop", "--json", "--store", store); !strings.Contains(ps, `"start_ticks"`) {
				t.Errorf("recorded as %s", ps)
			}
			other := ""
			if server != nil {
				_ = server.Process.Signal(syscall.SIGTERM)
				_ = server.Wait()
				var q *exec.Cmd
				other, q, answer = start()
				if !strings.HasPrefix(answer, "ok - ") {
					t.Errorf("answer while the server is away: %q", answer)
				}
				_ = q.Process.Kill()
			}
			time.Sleep(time.Second) // a heartbeat
			killed := time.Now().UTC()
			_ = p.Process.Kill()
			if server != nil {
				time.Sleep(3 * time.Second)
				serve()
				traced(other, `ended .*: process ended`)
			}
			traced(id, `ended .*: process ended`)
			if ps := oidOutput(t, "ps", "--all", "--name", "shop", "--json", "--store", store); !strings.Contains(ps, `"memory_bytes"`) {
				t.Errorf("no load: %s", ps)
			}
			for _, end := range regexp.MustCompile(`"end":\{"time":"([^"]+)"`).FindAllStringSubmatch(oidOutput(t, "ps", "--all", "--name", "shop", "--json", "--store", store), -1) {
				if at, err := time.Parse(time.RFC3339, end[1]); err != nil || at.Before(killed.Add(-3*time.Second)) || at.After(killed.Add(time.Second)) { // the server is back after three seconds
					t.Errorf("killed at %v, end recorded as %s, %v", killed, end[1], err)
				}
			}
		})
	}
}

func oidOutput(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "oid", args...).Output()
	if err != nil {
		t.Fatalf("oid %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// The socket has the permissions of --mode. One that a killed agent has left is replaced,
// that of a living one is not. Flags that cannot be right are errors of usage.
func TestAgentSocket(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	socket, store := filepath.Join(folder, "s"), "sqlite:"+filepath.Join(folder, "db")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	startOid(t, "listens on "+socket, "agent", "--listen", "unix:"+socket, "--mode", "0640", "--group", fmt.Sprint(os.Getgid()), "--store", store)
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	for _, test := range []struct {
		args, want string
		code       int
	}{
		{"--listen " + socket + " --store " + store, "another program serves there", 1},
		{"--mode 888", "octal digits", 2},
		{"--interval 10ms", "want 1s to 1h", 2},
		{"--server http://127.0.0.1:1 --store " + store, "exclude each other", 2},
		{"--server 127.0.0.1:1", "want http://", 2},
		{"--token-file x", "needs --server", 2},
		{"--listen " + socket + "2 --group no-such-group", "no-such-group", 1},
		{"--listen s3", "such as --listen " + filepath.Join(here, "s3") + "\n", 2},
		{"--listen unix:s3", "such as --listen " + filepath.Join(here, "s3") + "\n", 2},
		{"--listen unix:", "such as --listen /run/oid/agent.sock\n", 2},
		{"--listen 127.0.0.1:8025", "such as --listen /run/oid/agent.sock\n", 2},
		{"--listen http://127.0.0.1:8025", "such as --listen /run/oid/agent.sock\n", 2},
		{"--listen unix:@s3", "such as --listen /run/oid/agent.sock\n", 2},
		{"--listen /" + strings.Repeat("x", 107), "has 108 bytes; a socket's path has at most 107", 2},
		{"--listen " + folder + " --store " + store, "is no socket; remove it, or choose another path\n", 1},
		{"--listen " + socket + "3 --store " + store + " --state s3", "such as --state " + filepath.Join(here, "s3") + "\n", 2},
		{"--listen " + socket + "3 --store " + store + " --state unix:/s3", "such as --state /run/oid/agent.sock.state\n", 2},
		{"--listen " + socket + "3 --state /dev/null --store " + store, "/dev/null is no regular file", 1},
		{"--listen " + socket + "3 --state " + socket + "3 --store " + store, socket + "3: no such device", 1},
	} {
		out, err := exec.Command("oid", append([]string{"agent"}, strings.Fields(test.args)...)...).CombinedOutput()
		exit, _ := err.(*exec.ExitError)
		if exit == nil || exit.ExitCode() != test.code || !strings.Contains(string(out), test.want) {
			t.Errorf("oid agent %s: %v %s; want code %d and %q", test.args, err, out, test.code, test.want)
		}
	}
	startOid(t, "listens on "+socket+"4", "agent", "--listen", socket+"4", "--state", folder+"/new-state", "--store", store)
	for _, path := range []string{"unix:", "s3", socket + "3", socket + "4.state"} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The agent takes the socket that systemd passes, at which programs connect while no
// agent runs. It needs no place of its own for a socket then.
func TestAgentUnderSystemd(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for range 2 {
		c, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("oid1 " + oidOutput(t, "new"))); err != nil {
			t.Fatal(err)
		}
		agent := exec.Command("sh", "-c", `LISTEN_PID=$$ exec oid agent --store "sqlite:$0/db"`, folder)
		agent.Env, agent.ExtraFiles, agent.Stderr = append(os.Environ(), "LISTEN_FDS=1", "XDG_RUNTIME_DIR="), []*os.File{socket}, os.Stderr
		if err := agent.Start(); err != nil {
			t.Fatal(err)
		}
		if answer, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.HasPrefix(answer, "ok ") {
			t.Errorf("answer: %q, %v", answer, err)
		}
		_ = agent.Process.Signal(syscall.SIGTERM)
		if err := agent.Wait(); err != nil {
			t.Errorf("the agent ends with %v", err)
		}
		if _, err := os.Stat(l.Addr().String() + ".state"); err != nil {
			t.Error(err)
		}
	}
}

// A program that is too busy to accept a connection keeps its socket.
func TestBusySocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		defer syscall.Close(fd)
		err = errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds no place
		if l, err := (&unixFlags{mode: "0600"}).listen(t.Context(), path); err == nil {
			l.Close()
			t.Fatal("the socket of another program was taken")
		}
		c, err := net.Dial("unix", path)
		if err == nil {
			defer c.Close()
		}
	}
}
