package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// offered returns a release whose modules a project can get: the proxy has both.
func offered(t *testing.T, version string) *release {
	t.Helper()
	r, err := prepare(t.Context(), version, "..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.offer(mainModule, ""); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "GONOSUMDB="+mainModule)
	return r
}

// The same commit and version give the same tags, also from the commit of the release.
// Every module in that commit requires objectid by its version and hash.
func TestCommit(t *testing.T) {
	r := offered(t, "0.1.0")
	at := func(r *release, revision string) string {
		t.Helper()
		hash, err := git(t.Context(), r.root, "rev-parse", revision)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	head, err := git(t.Context(), "..", "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if got := at(r, "objectid/v0.1.0"); got != head {
		t.Errorf("objectid/v0.1.0 is %s, want the commit %s", got, head)
	}
	if got := at(r, "v0.1.0^"); got != head {
		t.Errorf("the parent of v0.1.0 is %s, want the commit %s", got, head)
	}
	for _, from := range []string{"..", r.root} {
		again, err := prepare(t.Context(), "0.1.0", from, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range []string{"objectid/v0.1.0", "v0.1.0"} {
			if at(again, tag) != at(r, tag) {
				t.Errorf("from %s, %s is another commit", from, tag)
			}
		}
	}
	if _, err := prepare(t.Context(), "0.2.0", r.root, t.TempDir()); err == nil || !strings.Contains(err.Error(), "another release") {
		t.Errorf("0.2.0 from the commit of 0.1.0: %v", err)
	}
	// The Go command compares the hashes of go.sum, and the requirements of all modules.
	for folder, packages := range map[string]string{"": "./server/wire", "bench": "./ids", "examples/verify": "./..."} {
		list := r.goCommand(t.Context(), "list", "-deps", packages)
		list.Dir = filepath.Join(r.root, folder)
		if _, err := output(list); err != nil {
			t.Error(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(r.root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	// The hashes are those that the Go command computes from the tag, without a proxy.
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", idModule+"@v0.1.0")
	download.Dir, download.Env = t.TempDir(), append(r.env, "GOPROXY=direct", "GOMODCACHE="+t.TempDir(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+r.root+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/oidkit/oid")
	var got struct{ Sum, GoModSum string }
	if out, err := output(download); err != nil {
		t.Error(err)
	} else if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Error(err)
	}
	for _, want := range []string{idModule + " v0.1.0 " + got.Sum + "\n", idModule + " v0.1.0/go.mod " + got.GoModSum + "\n"} {
		if !strings.Contains(string(sums), want) {
			t.Errorf("go.sum has no %q", want)
		}
	}
	if err := os.WriteFile(filepath.Join(r.root, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(t.Context(), "0.1.0", r.root, t.TempDir()); err == nil || !strings.Contains(err.Error(), "commit these changes first") {
		t.Errorf("with a change that is not committed: %v", err)
	}
}

// The tests of objectid pass with the oldest Go that its go.mod allows.
func TestOldestGo(t *testing.T) {
	version, err := output(exec.Command("go", "-C", "../objectid", "list", "-m", "-f", "{{.GoVersion}}"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "-C", "../objectid", "test", "./...")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=go"+version)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// "go install" works for the command, which says its version.
func TestGoInstall(t *testing.T) {
	r := offered(t, "0.1.0")
	install := exec.CommandContext(t.Context(), "go", "install", "github.com/oidkit/oid/cmd/oid@v0.1.0")
	bin := t.TempDir() // in no module
	install.Dir, install.Env = bin, append(r.env, "GOBIN="+bin)
	if _, err := output(install); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(bin, "oid")
	testVersion(t, program)
	if out, err := output(exec.Command(program, "new")); err != nil || len(out) != 24 {
		t.Errorf("oid new: %q, %v", out, err)
	}
}

// testVersion checks the versions in a program that was built as 0.1.0.
func testVersion(t *testing.T, program string) {
	t.Helper()
	if out, err := output(exec.Command(program, "--version")); err != nil || out != "oid version 0.1.0" {
		t.Errorf("oid --version: %q, %v", out, err)
	}
	modules, err := output(exec.Command("go", "version", "-m", program))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\tmod\t" + mainModule + "\tv0.1.0\t", "\tdep\t" + idModule + "\tv0.1.0\th1:"} {
		if !strings.Contains(modules, want) {
			t.Errorf("go version -m has no %q:\n%s", want, modules)
		}
	}
}

// project is somebody's program in Go, with old versions of what it uses.
type project struct {
	t      *testing.T
	folder string
	env    []string
}

// newProject returns a program with pgx 5.5.5 and version 2.0.0 of the MongoDB driver.
func newProject(t *testing.T, r *release, goLine string) *project {
	t.Helper()
	p := &project{t: t, folder: t.TempDir(), env: r.env}
	p.write("go.mod", "module example.com/shop\n\ngo "+goLine+"\n\nrequire (\n\tgithub.com/jackc/pgx/v5 v5.5.5\n\tgo.mongodb.org/mongo-driver/v2 v2.0.0\n)\n")
	p.write("main.go", `package main

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func main() {
	config, err := pgx.ParseConfig("postgres://db/shop")
	fmt.Println(config.Host, bson.ObjectID(newID()).IsZero(), err)
}
`)
	p.write("id.go", "package main\n\nfunc newID() (id [12]byte) { return id }\n")
	p.run("mod", "tidy")
	return p
}

func (p *project) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a command of Go in the project.
func (p *project) run(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "go", args...)
	cmd.Dir, cmd.Env = p.folder, p.env
	out, err := output(cmd)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// goMod returns the lines of go.mod without the go line, sorted.
func (p *project) goMod() (lines []string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.folder, "go.mod"))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "require ")); line != "" && !strings.HasPrefix(line, "go ") {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// useIDs makes the program take its ids from objectid.
func (p *project) useIDs() {
	p.t.Helper()
	p.write("id.go", `package main

import (
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/objectid/sealed"
)

func newID() objectid.ID {
	_ = sealed.GenerateKey()
	return objectid.New()
}
`)
}

const ran = "db false <nil>"

// A project that gets objectid has one module more, and nothing else changes but its go
// line, if that was older than the one of objectid.
func TestGoGet(t *testing.T) {
	r := offered(t, "0.1.0")
	for _, c := range []struct{ goLine, get, wantGoLine string }{
		{"1.21", "objectid", "1.24.0"},
		{"1.21", "objectid/sealed", "1.24.0"},
		{"1.25.0", "objectid", "1.25.0"},
	} {
		t.Run(c.goLine+" "+c.get, func(t *testing.T) {
			p := newProject(t, r, c.goLine)
			before, modules := p.goMod(), strings.Split(p.run("list", "-m", "all"), "\n")
			p.run("get", "github.com/oidkit/oid/"+c.get+"@v0.1.0")
			p.useIDs()
			p.run("mod", "tidy")
			if got := p.run("list", "-m", "-f", "{{.GoVersion}}"); got != c.wantGoLine {
				t.Errorf("the go line is %s, want %s", got, c.wantGoLine)
			}
			added := func(before, after []string) []string {
				t.Helper()
				for _, line := range before {
					if !slices.Contains(after, line) {
						t.Errorf("%q is gone: %q", line, after)
					}
				}
				return slices.DeleteFunc(after, func(line string) bool { return slices.Contains(before, line) })
			}
			want := []string{idModule + " v0.1.0"}
			if got := added(modules, strings.Split(p.run("list", "-m", "all"), "\n")); !slices.Equal(got, want) {
				t.Errorf("the project has also the modules %q, want %q", got, want)
			}
			if got := added(before, p.goMod()); !slices.Equal(got, want) {
				t.Errorf("go.mod has also %q, want %q", got, want)
			}
			if got := p.run("run", "."); got != ran {
				t.Errorf("the program prints %q, want %q", got, ran)
			}
			p.run("mod", "vendor")
			if got := p.run("run", "-mod=vendor", "."); got != ran {
				t.Errorf("with its modules in vendor, the program prints %q, want %q", got, ran)
			}
		})
	}
}
