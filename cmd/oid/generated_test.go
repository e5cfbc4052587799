package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// generated compares a file of the repository with what it must contain. With
// OID_WRITE_GENERATED=1, as in "make generated", it writes the file.
func generated(t *testing.T, name, want string) {
	t.Helper()
	file := filepath.Join("../..", name)
	if os.Getenv("OID_WRITE_GENERATED") == "1" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) == want {
		return
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s is not up to date; run make generated.\nline %d: %q\nwant:    %q", name, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s is not up to date; run make generated. It has %d lines, want %d", name, len(a), len(b))
}

// generatedPart is [generated] for the part of a page between two comments that name it.
func generatedPart(t *testing.T, name, part, want string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+part+", by make generated -->\n", "<!-- end of "+part+" -->\n"
	before, rest, _ := strings.Cut(string(page), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no place for %s, between %q and %q", name, part, begin, end)
	}
	generated(t, name, before+begin+want+end+after)
}

// The licences of all modules that are linked into the command, on any system.
func TestLicences(t *testing.T) {
	type module struct {
		Path, Version, Dir string
		Main               bool
	}
	modules := map[string]module{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for path := range strings.FieldsSeq(string(out)) {
			modules[path] = module{}
		}
	}
	out, err := exec.Command("go", append([]string{"list", "-m", "-json"}, slices.Collect(maps.Keys(modules))...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var m module
		if err := d.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		modules[m.Path] = m
	}
	var b strings.Builder
	b.WriteString("The command oid contains the Go standard library and the modules below, each under\nits own licence.\n")
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		if m.Main || m.Path == "github.com/oidkit/oid/objectid" { // has the licence of the command
			continue
		}
		fmt.Fprintf(&b, "\n%s\n%s %s\n", strings.Repeat("=", 80), m.Path, m.Version)
		names := licenceFiles(t, m.Dir)
		if len(names) == 0 {
			t.Errorf("%s has no licence file", m.Path)
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(m.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		}
	}
	generated(t, "LICENSES-THIRD-PARTY", b.String())
}

// licenceFiles returns the names of the files in a module's folder that say under
// which terms it may be used.
func licenceFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if !e.IsDir() && (strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "NOTICE")) {
			names = append(names, e.Name())
		}
	}
	return names
}
