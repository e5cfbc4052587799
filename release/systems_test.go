package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestSystems compiles the packages of ids for every system that Go knows. "make check" compiles
// all packages for some of them; the command needs a package that lacks others.
func TestSystems(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "go", "tool", "dist", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	systems := strings.Fields(string(list))
	if len(systems) < 40 {
		t.Errorf("Go knows only the systems %v", systems)
	}
	for _, system := range systems {
		t.Run(system, func(t *testing.T) {
			goos, goarch, _ := strings.Cut(system, "/")
			build := exec.CommandContext(t.Context(), "go", "build", "github.com/oidkit/oid/objectid/...", "./gpid")
			build.Dir = ".."
			build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
			if out, err := build.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
