package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// testFirstID gets an id by one command of each package manager, from the built files
// and with nothing of it in a cache, and prints the times.
func testFirstID(t *testing.T, dir string) {
	id := regexp.MustCompile(`(?m)^[0-9a-f]{24}\r?$`)
	report := func(name string, start time.Time, out []byte, err error) {
		if err != nil || !id.Match(out) {
			t.Errorf("%s: %v\n%s", name, err, out)
			return
		}
		fmt.Printf("first id by %-10s %6.1f s\n", name, time.Since(start).Seconds())
	}
	deb := one(t, dir, "*.deb")
	start := time.Now()
	out, err := onCopy(t, "dpkg -i /1.deb && oid new", deb)
	report("deb", start, out, err)

	for _, c := range []struct {
		name, command string
		files         []string
		environment   []string
	}{
		{"tar", `tar -xzf "$1" && oid-0.1.0/oid new`, []string{one(t, dir, "oid_0.1.0_linux_*.tar.gz")}, nil},
		{"npx", `npx --yes --offline --package "$1" --package "$2" oid new`, []string{one(t, dir, "oidkit-oid-linux-*.tgz"), one(t, dir, "oidkit-oid-0.1.0.tgz")}, nil},
		{"pip", `/usr/bin/python3 -m pip install --quiet --no-index --target here "$1" && here/bin/oid new`, []string{one(t, dir, "*.whl")}, nil},
		{"uvx", `uvx --offline --from "$1" oid new`, []string{one(t, dir, "*.whl")}, nil},
		{"go install", `go install github.com/oidkit/oid/cmd/oid@v0.1.0 && bin/oid new`, nil, goProxy(t)},
	} {
		if c.name == "uvx" {
			if _, err := exec.LookPath("uvx"); err != nil {
				fmt.Println("first id by uvx        not measured: uvx is not installed")
				continue
			}
		}
		home := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", c.command, "sh"}, c.files...)...)
		cmd.Dir, cmd.Env = home, append(append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home+"/cache"), c.environment...)
		for i, e := range cmd.Env {
			cmd.Env[i] = strings.ReplaceAll(e, "$HOME", home)
		}
		start := time.Now()
		out, err := cmd.CombinedOutput()
		report(c.name, start, out, err)
	}
}

// goProxy returns the environment in which the Go command gets the modules of a release
// from a proxy of files and what they need from the modules of this machine, and compiles
// it all.
func goProxy(t *testing.T) []string {
	t.Helper()
	r := offered(t, "0.1.0")
	return append(r.env, "GOBIN=$HOME/bin", "GOPATH=$HOME/go", "GOMODCACHE=$HOME/mod", "GOCACHE=$HOME/build")
}
