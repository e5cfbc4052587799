package main

import (
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

const adoptPage = "../../docs/how-to/adopt.md"

// services are the programs of the page and how it says to start them.
var services = map[string]struct {
	file, start, missing string
	needs                string // a command that succeeds where the driver is installed
	env                  func(t *testing.T) string
}{
	"python": {"app.py", "/usr/bin/python3 app.py", "python3-pymongo", "/usr/bin/python3 -c 'import bson'", nil},
	"php":    {"app.php", "php app.php", "php-cli and php-mongodb", "php -m | grep -qx mongodb", nil},
	"js":     {"app.js", "node app.js", "nodejs", "node --version", func(t *testing.T) string { return "NODE_PATH=" + testenv.NodeModules(t, "bson", "7.3.4") }},
	"java":   {"App.java", "java -cp /usr/share/java/bson.jar App.java", "default-jdk-headless and libmongodb-java", "javac -version && test -e /usr/share/java/bson.jar", nil},
}

// A service in each language, as docs/how-to/adopt.md has it, is adopted by the id that
// it wrote down; an id that it creates later is traced to it, and its end is recorded.
func TestAdoptDrivers(t *testing.T) {
	for language, s := range services {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", s.needs).CombinedOutput(); err != nil {
				testenv.Missing(t, fmt.Sprintf("%v: %s; get it with \"apt-get install %s\"", err, out, s.missing))
			}
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, s.file), []byte(testenv.DocBlock(t, adoptPage, language, 0)), 0o600); err != nil {
				t.Fatal(err)
			}
			env := append(os.Environ(), "OID_STORE=sqlite:"+filepath.Join(folder, "registry.db"))
			if s.env != nil {
				env = append(env, s.env(t))
			}
			adoptAndTrace(t, folder, env, s.start)
		})
	}
}

// adoptAndTrace runs the sessions of the page with a program that is started in folder.
func adoptAndTrace(t *testing.T, folder string, env []string, start string) {
	shell := func(ctx context.Context, script string) *exec.Cmd {
		c := exec.CommandContext(ctx, "sh", "-c", script)
		c.Dir, c.Env = folder, env
		return c
	}
	session := testenv.DocBlock(t, adoptPage, "sh", 0, "python3 app.py", start)
	adopt := shell(t.Context(), session+"adopt=$!\ntrap 'kill $adopt $(cat app.pid)' TERM\nwait $adopt")
	var said strings.Builder
	adopt.Stdout, adopt.Stderr = &said, &said
	if err := adopt.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = shell(context.Background(), "kill -9 $(cat app.pid)").Run() }
	defer func() {
		kill()
		_ = adopt.Wait()
	}()
	traced := regexp.MustCompile(`(?s) claimed\n.*process   claimed by shop\n`)
	deadline, last := time.Now().Add(time.Minute), ""
	for !traced.MatchString(last) {
		if time.Now().After(deadline) {
			t.Fatalf("not traced: %s\nadopt: %s", last, said.String())
		}
		time.Sleep(300 * time.Millisecond)
		out, _ := shell(t.Context(), testenv.DocBlock(t, adoptPage, "sh", 1)).CombinedOutput()
		last = string(out)
	}
	if !regexp.MustCompile(`\d+\.\d+\.\d+\.\d+:8080:\d{16}:\d+`).MatchString(last) {
		t.Errorf("trace: %s", last)
	}
	kill()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(300 * time.Millisecond) {
		out, err := shell(t.Context(), "oid ps --all").CombinedOutput()
		if err == nil && regexp.MustCompile(`(?m)^ended .* shop `).Match(out) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the end is not recorded: %v %s", err, out)
		}
	}
}
