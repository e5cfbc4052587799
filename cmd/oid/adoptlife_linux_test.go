package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// A lived is a service whose program is changed for a test: old texts, and the new ones.
type lived struct {
	service string   // of services
	fast    []string // pauses between attempts are a hundredth
	ends    []string // it prints an id every 50 ms, until there is a file called stop, and ends with the code
	code    int
	fork    []string // it forks once, or nil
}

// lives has the languages in which a process can fork first.
var lives = []lived{
	{"python 4", []string{"random.uniform(0.5, 1.5)", "random.uniform(0.005, 0.015)"}, []string{
		"while True:\n    print", "while not os.path.exists('stop'):\n    print", "    time.sleep(1)\n", "    time.sleep(0.05)\nraise SystemExit(7)\n",
	}, 7, []string{"\nwhile not", "\nos.fork()\nwhile not"}},
	{"php 1", nil, []string{"while (true)", "while (!file_exists('stop'))", "sleep(1);\n}", "usleep(50000);\n}\nexit(7);"}, 7, []string{
		"while (!file", "tell_agent('name=shop addr=10.0.0.7:8080');\npcntl_fork();\nwhile (!file",
	}},
	{"ruby 4", []string{"rand(0.5..1.5)", "rand(0.005..0.015)"}, []string{"\nloop do", "\nuntil File.exist?('stop')", "sleep 1\nend", "sleep 0.05\nend\nexit 7"}, 7, []string{"\nuntil", "\nfork\nuntil"}},
	{"c 1", []string{"500 + now.tv_nsec / 1000 % 1000", "5 + now.tv_nsec / 1000 % 10"}, []string{
		"for (;; sleep(1)) {", "for (; access(\"stop\", F_OK) != 0; usleep(50000)) {", "fflush(stdout);\n\t}", "fflush(stdout);\n\t}\n\treturn 7;",
	}, 7, []string{"\tfor (; access", "\tif (fork() == 0)\n\t\ttell_agent(\"name=shop addr=10.0.0.7:8080\");\n\tfor (; access"}},
	{"node 7", []string{"500 + 1000", "5 + 10"}, []string{
		"setInterval(() =>", "const timer = setInterval(() =>", "1000);\n",
		"50);\nconst watch = setInterval(() => { if (require('fs').existsSync('stop')) { clearInterval(timer); clearInterval(watch); process.exitCode = 7; } }, 10);\n",
	}, 7, nil},
	{"rust", []string{"500 + u64::from(now.subsec_micros()) % 1000", "5 + u64::from(now.subsec_micros()) % 10"}, []string{
		"    loop {\n        println", "    while !std::path::Path::new(\"stop\").exists() {\n        println",
		"from_secs(1));\n    }", "from_millis(50));\n    }\n    std::process::exit(7)",
	}, 7, nil},
	{"java 3", []string{"500 + 1000", "5 + 10"}, []string{
		"while (true) {\n            System", "while (!new java.io.File(\"stop\").exists()) {\n            System",
		"Thread.sleep(1000);\n        }", "Thread.sleep(50);\n        }\n        throw new Exception(\"the end\");",
	}, 1, nil},
}

// eachLife runs a test for a service of each language: of n languages, or of all in a soak.
func eachLife(t *testing.T, n int, run func(t *testing.T, l *lived, s *service)) {
	t.Parallel()
	testenv.Long(t, "runs services of other languages")
	for _, l := range lives[:testenv.Rounds(n, len(lives))] {
		t.Run(l.service, func(t *testing.T) {
			t.Parallel()
			s := services[l.service]
			if s.file == "App.java" { // the page compiles it at each start
				s.made, s.start = "javac -cp /usr/share/java/bson.jar App.java", "java -XX:TieredStopAtLevel=1 -cp /usr/share/java/bson.jar:. App"
			}
			run(t, &l, &s)
		})
	}
}

// alive is a service that runs.
type alive struct {
	t       *testing.T
	h       *agentHost
	cmd     *exec.Cmd
	said    *os.File // its standard error
	mu      sync.Mutex
	ids     []string      // that it has printed
	printed chan struct{} // closed when it will print no more
}

// run starts a service.
func (h *agentHost) run(t *testing.T, start string) *alive {
	t.Helper()
	_ = os.Remove(filepath.Join(h.folder, "stop"))
	r := &alive{t: t, h: h, cmd: h.shell(context.Background(), "exec "+start), said: h.output(t, "service.log"), printed: make(chan struct{})}
	out := testenv.Must(r.cmd.StdoutPipe())(t)
	r.cmd.Stderr = r.said
	testenv.NoError(t, r.cmd.Start())
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	go func() {
		defer close(r.printed)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.mu.Lock()
			r.ids = append(r.ids, lines.Text())
			r.mu.Unlock()
		}
	}()
	return r
}

// count returns how many ids the service has printed.
func (r *alive) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ids)
}

// more waits until the service has printed n more ids, and returns the last one.
func (r *alive) more(n int) string {
	r.t.Helper()
	n += r.count()
	eventually(r.t, 20*time.Second, func() error {
		if r.count() < n {
			return fmt.Errorf("%s printed %d ids, want %d", r.cmd, r.count(), n)
		}
		return nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[n-1]
}

// end makes the service end, and returns what it said. It has to end with the code.
func (r *alive) end(code int) string {
	r.t.Helper()
	testenv.NoError(r.t, os.WriteFile(filepath.Join(r.h.folder, "stop"), nil, 0o600))
	timer := time.AfterFunc(20*time.Second, func() { _ = r.cmd.Process.Kill() })
	<-r.printed
	err := r.cmd.Wait()
	if !timer.Stop() || r.cmd.ProcessState.ExitCode() != code {
		r.t.Errorf("%s ended with %v, want code %d", r.cmd, err, code)
	}
	return string(testenv.Must(os.ReadFile(r.said.Name()))(r.t))
}

// sockets returns how many sockets the service has open.
func (r *alive) sockets() (n int) {
	folder := fmt.Sprintf("/proc/%d/fd/", r.cmd.Process.Pid)
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if to, _ := os.Readlink(folder + e.Name()); strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// eventually calls check until it returns nil.
func eventually(t *testing.T, limit time.Duration, check func() error) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// traced waits until an id is traced to a process, and returns its GPID.
func (h *agentHost) traced(t *testing.T, id string) (gpid string) {
	t.Helper()
	eventually(t, 30*time.Second, func() error {
		out, err := h.shell(t.Context(), "oid trace "+id).CombinedOutput()
		if gpid = regexp.MustCompile(`10\.0\.0\.7:8080:\d+:\d+`).FindString(string(out)); gpid == "" || !strings.HasPrefix(string(out), id+"  claimed\n") {
			return fmt.Errorf("%s is not traced: %w %s", id, err, out)
		}
		return nil
	})
	return gpid
}

// killAgent ends the agent with SIGKILL and removes some of its files.
func (h *agentHost) killAgent(t *testing.T, remove ...string) {
	t.Helper()
	testenv.NoError(t, h.agent.Process.Kill())
	_, _ = h.agent.Process.Wait()
	for _, pattern := range remove {
		for _, file := range testenv.Must(filepath.Glob(filepath.Join(h.folder, pattern)))(t) {
			testenv.NoError(t, os.Remove(file))
		}
	}
}

// fill connects to a stopped agent until it can take no more connections.
func (h *agentHost) fill(t *testing.T) {
	t.Helper()
	for {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
		if err == nil {
			t.Cleanup(func() { _ = syscall.Close(fd) })
			err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: h.socket})
		}
		if errors.Is(err, syscall.EAGAIN) {
			return
		}
		testenv.NoError(t, err)
	}
}

// A service of each language goes on and ends by itself, whatever happens to the agent, and
// later ids are traced to it where an agent runs.
func TestServiceOutlivesAgent(t *testing.T) {
	eachLife(t, 2, func(t *testing.T, l *lived, s *service) {
		h := s.install(t, slices.Concat(l.fast, l.ends)...)
		where := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(h.socket) + `: .*\n`)
		quiet := func(when, said string) { // apart from reasons of the function, and one stack trace
			t.Helper()
			said, _, _ = strings.Cut(where.ReplaceAllString(said, ""), "Exception in thread \"main\" java.lang.Exception: the end")
			if said != "" {
				t.Errorf("%s: the service said %s", when, said)
			}
		}

		r := h.run(t, s.start)
		r.more(5)
		h.startAgent(t) // later than the service
		gpid := h.traced(t, r.more(1))
		open := r.sockets()
		h.killAgent(t)
		r.more(5)
		h.startAgent(t) // with the file of its state
		if g := h.traced(t, r.more(3)); g != gpid {
			t.Errorf("the process is %s, want %s", g, gpid)
		}
		if out := testenv.Must(h.shell(t.Context(), "oid ps --all | wc -l").Output())(t); string(out) != "2\n" {
			t.Errorf("a process and the headings are %s lines", out)
		}
		h.killAgent(t, "*.state", "registry.db*")
		r.more(5)
		h.startAgent(t) // it knows nothing
		if g := h.traced(t, r.more(3)); g != gpid {
			t.Errorf("the process is %s, want %s", g, gpid)
		}
		if n := r.sockets(); n > open {
			t.Errorf("the service has %d sockets, and had %d", n, open)
		}
		quiet("killed", r.end(l.code))

		testenv.NoError(t, h.agent.Process.Signal(syscall.SIGSTOP))
		r = h.run(t, s.start) // the agent accepts nothing
		r.more(3)
		quiet("stopped", r.end(l.code))
		h.fill(t)
		r = h.run(t, s.start) // the agent cannot be connected to
		r.more(3)
		quiet("full", r.end(l.code))

		h.killAgent(t, "agent.sock")
		r = h.run(t, s.start)
		r.more(10)
		said := r.end(l.code)
		quiet("away", said)
		want := 1
		if s.file == "app.php" {
			want = 0
		}
		if n := len(where.FindAllString(said, -1)); n != want {
			t.Errorf("%d reasons in %s", n, said)
		}
	})
}

// A refusal is logged once, and the service does not connect again. An agent that ends the
// connections is tried after pauses that grow.
func TestAgentPauses(t *testing.T) {
	eachLife(t, 2, func(t *testing.T, l *lived, s *service) {
		h := s.install(t, slices.Concat(l.fast, l.ends)...)
		for _, answer := range []string{"error in the line\n", ""} {
			_ = os.Remove(h.socket)
			listener := testenv.Must(net.Listen("unix", h.socket))(t)
			var mu sync.Mutex
			var attempts []time.Time
			go func() {
				for {
					c, err := listener.Accept()
					if err != nil {
						return
					}
					mu.Lock()
					attempts = append(attempts, time.Now())
					mu.Unlock()
					lines := bufio.NewReader(c)
					_, _ = lines.ReadString('\n')
					if _, _ = io.WriteString(c, answer); answer != "" {
						_, _ = lines.ReadByte() // the service ends the connection
					}
					_ = c.Close()
				}
			}()
			r, start := h.run(t, s.start), time.Now()
			r.more(60) // 3 s
			said := r.end(l.code)
			most := 8 + int(time.Since(start)/(300*time.Millisecond)) // the longest pause is 0.3 to 0.9 s
			testenv.NoError(t, listener.Close())
			mu.Lock()
			n := len(attempts)
			mu.Unlock()
			switch php := s.file == "app.php"; {
			case answer != "" && (n != 1 || strings.Count(said, "error in the line") != 1):
				t.Errorf("%d attempts after a refusal: %s", n, said)
			case answer == "" && !php && (n < 5 || n > most):
				t.Errorf("%d attempts, want 5 to %d", n, most)
			case answer == "" && php && n < 5: // one in each round
				t.Errorf("%d attempts", n)
			}
		}
	})
}

// A service that blocks a signal, to wait for it itself, does not get it through the thread.
func TestAgentTakesNoSignal(t *testing.T) {
	block := map[string][]string{
		"python 4": {"\nwhile not", "\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\nwhile not"},
		"c 1":      {"\tfor (; access", "\tsigset_t set;\n\tsigemptyset(&set);\n\tsigaddset(&set, SIGTERM);\n\tpthread_sigmask(SIG_BLOCK, &set, NULL);\n\tfor (; access"},
	}
	eachLife(t, 4, func(t *testing.T, l *lived, s *service) {
		if block[l.service] == nil {
			return // the language gives no signal to the thread
		}
		h := s.install(t, slices.Concat(l.fast, l.ends, block[l.service])...)
		r := h.run(t, s.start)
		r.more(3)
		testenv.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
		r.more(3)
		r.end(l.code)
	})
}

// A child of a fork is recorded as a process of its own.
func TestForkTellsAgent(t *testing.T) {
	eachLife(t, 4, func(t *testing.T, l *lived, s *service) {
		if l.fork == nil {
			return // the language does not fork
		}
		h := s.install(t, slices.Concat(l.fast, l.ends, l.fork)...)
		h.startAgent(t)
		r := h.run(t, s.start)
		r.more(20)
		processes := map[string]string{} // by process value
		r.mu.Lock()
		ids := slices.Clone(r.ids)
		r.mu.Unlock()
		for _, id := range ids {
			if len(id) != 24 { // both processes wrote at once
				continue
			}
			if value := id[8:18]; processes[value] == "" {
				processes[value] = h.traced(t, id)
			}
		}
		gpids := map[string]bool{}
		for _, gpid := range processes {
			gpids[gpid] = true
		}
		if len(gpids) != 2 {
			t.Errorf("the ids are of %v, want two processes", processes)
		}
		r.end(l.code)
	})
}
