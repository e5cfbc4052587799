package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What all kinds of packages say of oid.
const (
	description = "Create, read and trace MongoDB ObjectIds"
	homepage    = "https://github.com/oidkit/oid"
	license     = "MIT"
)

// target is a system that programs are built for.
type target struct {
	os, arch string
	node     nodeSystem // its name in npm
	wheel    string     // its platform tags in a wheel
}

type nodeSystem struct{ os, cpu string }

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the path of the program for t.
func (r *release) program(t target) string {
	name := "oid"
	if t.os == "windows" {
		name = "oid.exe"
	}
	return r.temp(filepath.Join("bin", t.os+"-"+t.arch, name))
}

// A static program runs with every C library. macOS 12 is the oldest that Go supports.
var targets = []target{
	{"linux", "amd64", nodeSystem{"linux", "x64"}, "manylinux_2_17_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", nodeSystem{"linux", "arm64"}, "manylinux_2_17_aarch64.musllinux_1_1_aarch64"},
	{"linux", "386", nodeSystem{"linux", "ia32"}, "manylinux_2_17_i686.musllinux_1_1_i686"},
	{"darwin", "amd64", nodeSystem{"darwin", "x64"}, "macosx_12_0_x86_64"},
	{"darwin", "arm64", nodeSystem{"darwin", "arm64"}, "macosx_12_0_arm64"},
	{"windows", "amd64", nodeSystem{"win32", "x64"}, "win_amd64"},
}

// chosen returns the targets of a list such as linux/amd64,darwin/arm64; all if it is
// empty.
func chosen(list string) ([]target, error) {
	if list == "" {
		return targets, nil
	}
	var out []target
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("target %q is unknown; choose from %v", name, targets)
		}
		out = append(out, targets[i])
	}
	return out, nil
}

// buildPrograms builds the programs, and what comes from the program itself: manual
// pages and completions.
func (r *release) buildPrograms(ctx context.Context, targets []target) error {
	for _, t := range targets {
		fmt.Println("build", t)
		cmd := r.goCommand(ctx, "build", "-trimpath", "-buildvcs", "-ldflags", "-s -w", "-o", r.program(t), "./cmd/oid")
		cmd.Env = append(cmd.Env, "GOOS="+t.os, "GOARCH="+t.arch)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", t, err, out)
		}
	}
	man := r.temp("man")
	if err := os.Mkdir(man, 0o755); err != nil {
		return err
	}
	manual := r.goCommand(ctx, "run", "-trimpath", "-tags", "manual", "./cmd/oid", man, r.version)
	manual.Env = append(manual.Env, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	if out, err := manual.CombinedOutput(); err != nil {
		return fmt.Errorf("manual pages: %w\n%s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := compress(page, page+".gz"); err != nil {
			return err
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out, err := r.goCommand(ctx, "run", "-trimpath", "./cmd/oid", "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("completion %s: %w", shell, err)
		}
		if err := os.WriteFile(r.temp("completion."+shell), out, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// goCommand returns a call of the Go command in r.root.
func (r *release) goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = r.root, slices.Clone(r.env)
	return cmd
}
