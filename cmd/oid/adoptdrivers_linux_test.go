package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// service is a program of docs/how-to/adopt.md or of examples/agent, with one version of a
// driver.
type service struct {
	file    string
	made    string // the command of the page that makes the program, or ""
	start   string // and the one that starts it
	needs   string // a command that succeeds where the driver is installed, or ""
	missing string // the packages of Debian that have it
	// prepare returns the environment in which the program finds the driver, and what comes
	// before made and start here; nil for a driver that is installed.
	prepare func(t *testing.T, s *service) []string
}

const (
	verifyAdapters = "../../examples/verify/adapters/"
	linkOld        = "cc -pthread -o app app.c $(pkg-config --cflags --libs libbson-1.0)"
	linkNew        = "cc -pthread -o app app.c $(pkg-config --cflags --libs bson2)"
)

var services = map[string]service{
	"python 3": {file: "app.py", start: "python3 app.py", needs: "/usr/bin/python3 -c 'import bson'", missing: "python3-pymongo", prepare: func(_ *testing.T, s *service) []string {
		s.start = "/usr/bin/" + s.start
		return nil
	}},
	"python 4": {file: "app.py", start: "python3 app.py", prepare: func(t *testing.T, _ *service) []string {
		return []string{"PYTHONPATH=" + testenv.PythonPackage(t, "pymongo", "4.20.1")}
	}},
	"node 6": {file: "app.js", start: "node app.js", prepare: npmBSON("6.10.4")},
	"node 7": {file: "app.js", start: "node app.js", prepare: npmBSON("7.3.4")},
	"java 3": {file: "App.java", start: "java -cp /usr/share/java/bson.jar App.java", needs: "javac -version && java -version && test -e /usr/share/java/bson.jar", missing: "default-jdk-headless and libmongodb-java"},
	"java 5": {file: "App.java", start: "java -cp bson-5.14.0.jar App.java", prepare: func(t *testing.T, s *service) []string {
		s.made = "ln -s $JARS/bson-5.14.0.jar ."
		return []string{"JARS=" + testenv.Jars(t, verifyAdapters+"pom.xml")}
	}},
	"rust": {file: "app.rs", start: "cargo run", prepare: func(t *testing.T, s *service) []string {
		s.made = "rustc --edition 2021 -L dependency=$CRATE/deps --extern bson=$(echo $CRATE/deps/libbson-*.rlib) app.rs"
		s.start = "./app"
		return []string{"CRATE=" + testenv.Crate(t, verifyAdapters+"rust")}
	}},
	"php 1":  {file: "app.php", start: "php app.php", needs: "php -m | grep -qx mongodb", missing: "php-cli and php-mongodb"},
	"php 2":  {file: "app.php", start: "php app.php", prepare: ofUnstable},
	"ruby 4": {file: "app.rb", start: "ruby app.rb", needs: "ruby -e 'require \"bson\"'", missing: "ruby-bson"},
	"ruby 5": {file: "app.rb", start: "ruby app.rb", prepare: ofUnstable},
	"c 1":    {file: "app.c", made: linkOld, start: "./app", needs: "cc --version && pkg-config --exists libbson-1.0", missing: "gcc, pkg-config and libbson-dev"},
	"c 2":    {file: "app.c", made: linkNew, start: "./app", prepare: ofUnstable},
}

func npmBSON(version string) func(*testing.T, *service) []string {
	return func(t *testing.T, _ *service) []string {
		return []string{"NODE_PATH=" + testenv.NodeModules(t, "bson", version)}
	}
}

// ofUnstable is for the drivers that only Debian's unstable distribution has. Its packages
// change every day, so a developer unpacks them, see examples/verify/adapters/unstable.sh.
func ofUnstable(t *testing.T, s *service) []string {
	t.Helper()
	root := os.Getenv("UNSTABLE")
	if root == "" {
		t.Skip("UNSTABLE does not name a folder: see examples/verify/adapters/unstable.sh")
	}
	script := testenv.Must(filepath.Abs(verifyAdapters + "unstable.sh"))(t)
	s.start = script + " " + s.start
	s.made = strings.Replace(s.made, "cc ", "cc -Wl,--unresolved-symbols=ignore-in-shared-libs ", 1)
	folders := testenv.Must(filepath.Glob(root + "/usr/lib/*/pkgconfig"))(t)
	return []string{"PKG_CONFIG_SYSROOT_DIR=" + root, "PKG_CONFIG_LIBDIR=" + strings.Join(folders, ":")}
}

// Each program of the page says its id to an agent, twice one after the other: an id that
// it creates later is traced to it, and its end is recorded when it is killed.
func TestAgentDrivers(t *testing.T) {
	t.Parallel()
	page := string(testenv.Must(os.ReadFile(adoptPage))(t))
	for name, s := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{s.made, s.start} {
				if !strings.Contains(page, "`"+command+"`") && command != "" {
					t.Errorf("the page lacks the command %s", command)
				}
			}
			h := s.install(t)
			h.startAgent(t)
			for n := range 2 {
				h.runService(t, s.start, n)
			}
		})
	}
}

// install writes and makes the program of s, with each old text replaced by the new one
// after it, in a folder of its own. It skips the test if the driver is not there.
func (s *service) install(t *testing.T, oldNew ...string) *agentHost {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", s.needs).CombinedOutput(); err != nil {
		testenv.Missing(t, fmt.Sprintf("%v: %s; get it with \"apt-get install %s\"", err, out, s.missing))
	}
	h := &agentHost{folder: t.TempDir()}
	h.socket = filepath.Join(h.folder, "agent.sock")
	h.env = append(os.Environ(), "OID_STORE=sqlite:"+filepath.Join(h.folder, "registry.db"))
	if s.prepare != nil {
		h.env = append(h.env, s.prepare(t, s)...)
	}
	program := testenv.DocBlock(t, adoptPage, "python", 0)
	if s.file != "app.py" {
		program = string(ofExamples(t, s.file))
	}
	oldNew = append(oldNew, "/run/oid/agent.sock", h.socket)
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(program, oldNew[i]) {
			t.Fatalf("%s lacks %q", s.file, oldNew[i])
		}
		program = strings.ReplaceAll(program, oldNew[i], oldNew[i+1])
	}
	if err := os.WriteFile(filepath.Join(h.folder, s.file), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := h.shell(t.Context(), s.made).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return h
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
	agent          *exec.Cmd // nil until it is started
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
	h.agent = c
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if text, err := os.ReadFile(said.Name()); err == nil && t.Failed() {
			t.Logf("agent: %s", text)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unix", h.socket); err == nil {
			_ = c.Close()
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
// them notices a word that is not. They need the level of the Pod Security Standards that
// docs/how-to/kubernetes.md says.
func TestAgentManifests(t *testing.T) {
	for _, m := range []struct{ file, what, word, wrong string }{
		{"daemonset.yaml", "kubernetes", "hostPID", "hostPid"},
		{"pod.yaml", "kubernetes", "mountPath", "path"},
		{"sidecar.yaml", "restricted", "drop: [ALL]", "drop: []"},
		{"compose.yaml", "compose", "depends_on", "depends"},
	} {
		text := string(ofExamples(t, m.file))
		if wrong := testenv.CheckManifest(t, m.what, text); wrong != "" {
			t.Errorf("%s: %s", m.file, wrong)
		}
		if testenv.CheckManifest(t, m.what, strings.ReplaceAll(text, m.word, m.wrong)) == "" {
			t.Errorf("%s: %q is not noticed", m.file, m.wrong)
		}
		if strings.HasPrefix(m.word, "host") || m.file == "pod.yaml" {
			if testenv.CheckManifest(t, "baseline", text) == "" {
				t.Errorf("%s: needs no more than the level baseline", m.file)
			}
		}
	}
}
