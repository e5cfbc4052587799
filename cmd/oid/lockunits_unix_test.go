//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

const unitsPage = "../../docs/how-to/locks-in-units.md"

// runOnHosts runs a command of the page with the locks in url, as two hosts do: the job runs on
// one of them.
func runOnHosts(t *testing.T, command string, oldNew ...string) {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(report, []byte("#!/bin/sh\necho it ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	replace := append(oldNew, "0 3 * * *", weekly(), "/usr/bin/oid", "oid", "/usr/local/bin/report", report)
	var ran strings.Builder
	for range 2 {
		cmd := exec.Command("sh", "-c", strings.NewReplacer(replace...).Replace(command))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		ran.WriteString(string(out))
	}
	if ran.String() != "it ran\n" {
		t.Errorf("%s: printed %q on two hosts, want that the job runs once", command, ran.String())
	}
}

// systemd finds nothing wrong with the units of the page, and notices a wrong one.
func TestLockUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed; .ci/setup release does that")
	}
	self, err := exec.LookPath("oid")
	if err != nil {
		t.Fatal(err)
	}
	service := testenv.DocBlock(t, unitsPage, "ini", 0, "/usr/bin/oid", self)
	verify := func(service string) string {
		folder := t.TempDir()
		files := []string{filepath.Join(folder, "report.service"), filepath.Join(folder, "report.timer")}
		err1 := os.WriteFile(files[0], []byte(service), 0o644)
		err2 := os.WriteFile(files[1], []byte(testenv.DocBlock(t, unitsPage, "ini", 1)), 0o644)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(analyze, append([]string{"verify", "--man=no"}, files...)...).CombinedOutput()
		if err != nil || strings.Contains(string(out), "report.") {
			return string(out)
		}
		return ""
	}
	if said := verify(service); said != "" {
		t.Errorf("systemd-analyze verify: %s", said)
	}
	if verify(strings.Replace(service, "KillMode=mixed", "KillMode=mixt", 1)) == "" {
		t.Error("systemd-analyze verify does not notice a wrong unit")
	}
	start := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(testenv.DocBlock(t, unitsPage, "ini", 0))
	runOnHosts(t, start[1], "redis://redis:6379", testenv.Redis(t).URL())
}

// The CronJob of the page is one for Kubernetes.
func TestLockCronJob(t *testing.T) {
	manifest := testenv.DocBlock(t, unitsPage, "yaml", 0)
	if wrong := testenv.CheckManifest(t, "kubernetes", manifest); wrong != "" {
		t.Error(wrong)
	}
	if testenv.CheckManifest(t, "kubernetes", strings.Replace(manifest, "backoffLimit", "backOffLimit", 1)) == "" {
		t.Error("a wrong word is not noticed")
	}
	command := regexp.MustCompile(`command: \[(.*)\]`).FindStringSubmatch(manifest)
	runOnHosts(t, strings.ReplaceAll(command[1], ", ", " "), "redis://redis.example.com:6379", testenv.Redis(t).URL())
}
