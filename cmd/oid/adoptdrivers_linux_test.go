package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// services are the program of docs/how-to/adopt.md and those of examples/agent, and how the
// page says to start them.
var services = map[string]struct {
	file, start, missing string
	needs                string // a command that succeeds where the driver is installed
	build                string // a command that makes the program, or ""
	env                  func(t *testing.T) string
}{
	"python": {"app.py", "/usr/bin/python3 app.py", "python3-pymongo", "/usr/bin/python3 -c 'import bson'", "", nil},
	"js":     {"app.js", "node app.js", "nodejs", "node --version", "", func(t *testing.T) string { return "NODE_PATH=" + testenv.NodeModules(t, "bson", "7.3.4") }},
	"php":    {"app.php", "php app.php", "php-cli and php-mongodb", "php -m | grep -qx mongodb", "", nil},
	"ruby":   {"app.rb", "ruby app.rb", "ruby-bson", "ruby -e 'require \"bson\"'", "", nil},
	"java":   {"App.java", "java -cp /usr/share/java/bson.jar App.java", "default-jdk-headless and libmongodb-java", "javac -version && java -version && test -e /usr/share/java/bson.jar", "", nil},
	"c":      {"app.c", "./app", "gcc, pkg-config and libbson-dev", "cc --version && pkg-config --exists libbson-1.0", "cc -o app app.c $(pkg-config --cflags --libs libbson-1.0)", nil},
}

// Each program says its id to an agent, twice one
// after the other: an id that it creates later is traced to it, and its end is recorded
// when it is killed.
func TestAgentDrivers(t *testing.T) {
	for language, s := range services {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", s.needs).CombinedOutput(); err != nil {
				testenv.Missing(t, fmt.Sprintf("%v: %s; get it with \"apt-get install %s\"", err, out, s.missing))
			}
			h := agentHost{folder: t.TempDir()}
			h.socket = filepath.Join(h.folder, "agent.sock")
			h.env = append(os.Environ(), "OID_STORE=sqlite:"+filepath.Join(h.folder, "registry.db"))
			if s.env != nil {
				h.env = append(h.env, s.env(t))
			}
			program := []byte(testenv.DocBlock(t, adoptPage, "python", 0))
			if language != "python" {
				program = ofExamples(t, s.file)
			}
			program = bytes.ReplaceAll(program, []byte("/run/oid/agent.sock"), []byte(h.socket))
			if err := os.WriteFile(filepath.Join(h.folder, s.file), program, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := h.shell(t.Context(), s.build).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			h.startAgent(t)
			for n := range 2 {
				h.runService(t, s.start, n)
			}
		})
	}
}

// ofExamples returns a file of examples/agent.
func ofExamples(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../examples/agent/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// agentHost is a folder in which an agent and a service run.
type agentHost struct {
	folder, socket string
	env            []string
}

func (h *agentHost) shell(ctx context.Context, script string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", "-c", script)
	c.Dir, c.Env = h.folder, h.env
	return c
}

// startAgent starts the agent of the page with the store of h, until the test ends.
func (h *agentHost) startAgent(t *testing.T) {
	t.Helper()
	c := h.shell(context.Background(), "exec "+testenv.DocBlock(t, adoptPage, "sh", 0, "/run/oid/agent.sock", h.socket, " --store postgres://db/oid", ""))
	said := h.output(t, "agent.log")
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if text, err := os.ReadFile(said.Name()); err == nil && t.Failed() {
			t.Logf("agent: %s", text)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(h.socket); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the agent does not listen")
		}
	}
}

// output creates a file that is closed when the test ends.
func (h *agentHost) output(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(h.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// runService runs the session of the page with a program, kills the program, and waits
// until its end is recorded beside those of n others.
func (h *agentHost) runService(t *testing.T, start string, n int) {
	t.Helper()
	session := testenv.DocBlock(t, adoptPage, "sh", 1, "export OID_STORE=postgres://db/oid\n", "", "python3 app.py", start, "oid trace", "echo $! > app.pid\noid trace")
	said := h.output(t, "session.log")
	c := h.shell(t.Context(), session)
	c.Stdout, c.Stderr = said, said // the service keeps it open
	err := c.Run()
	kill := func() { _ = h.shell(context.Background(), "kill -9 $(cat app.pid)").Run() }
	defer kill()
	text, _ := os.ReadFile(said.Name())
	traced := regexp.MustCompile(`(?s) claimed\n.*process   claimed by shop\n`)
	for deadline := time.Now().Add(30 * time.Second); !traced.Match(text); time.Sleep(300 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not traced: %v %s", err, text)
		}
		text, err = h.shell(t.Context(), `oid trace "$(tail -n 1 app.log)"`).CombinedOutput()
	}
	if !strings.Contains(string(text), "10.0.0.7:8080:") {
		t.Errorf("trace: %s", text)
	}
	kill()
	ended := regexp.MustCompile(`(?m)^ended .* shop `)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(300 * time.Millisecond) {
		out, err := h.shell(t.Context(), "oid ps --all").CombinedOutput()
		if err == nil && len(ended.FindAll(out, -1)) == n+1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d ends are to be recorded: %v %s", n+1, err, out)
		}
	}
}

// The manifests of examples/agent are what Kubernetes and Compose read, and the check of
// them notices a word that is not.
func TestAgentManifests(t *testing.T) {
	for _, m := range []struct{ file, what, word, wrong string }{
		{"daemonset.yaml", "kubernetes", "hostPID", "hostPid"},
		{"pod.yaml", "kubernetes", "mountPath", "path"},
		{"compose.yaml", "compose", "depends_on", "depends"},
	} {
		text := string(ofExamples(t, m.file))
		if wrong := testenv.CheckManifest(t, m.what, text); wrong != "" {
			t.Errorf("%s: %s", m.file, wrong)
		}
		if testenv.CheckManifest(t, m.what, strings.ReplaceAll(text, m.word, m.wrong)) == "" {
			t.Errorf("%s: %q is not noticed", m.file, m.wrong)
		}
	}
}
