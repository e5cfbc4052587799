package testenv

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// poms are the files, from this folder, that say which libraries for the JVM tests ask for.
// TestFetch fetches them all.
var poms = []string{"../../examples/verify/adapters/pom.xml"}

// Jars returns a folder with the libraries that a pom.xml asks for, and what they depend on.
// Maven fetches them on first use.
func Jars(t testing.TB, pom string) string {
	t.Helper()
	Long(t, "runs Java")
	mvn := Program(t, "mvn", "maven")
	folder, err := cached("jars-"+sumOf(t, pom), func(part string) *exec.Cmd {
		return exec.Command(mvn, "--quiet", "--batch-mode", "--file", pom, "dependency:copy-dependencies", "-DoutputDirectory="+part)
	})
	if err != nil {
		Missing(t, "no libraries for Java: "+err.Error())
	}
	return folder
}

// crates are the folders, from this folder, of the programs in Rust that tests build.
// TestFetch builds them all.
var crates = []string{"../../examples/verify/adapters/rust"}

// Crate returns a folder with the program of a folder with a Cargo.toml, and below deps what
// it was linked with. Cargo builds it on first use.
func Crate(t testing.TB, folder string) string {
	t.Helper()
	Long(t, "builds a program in Rust")
	cargo := Program(t, "cargo", "cargo-web")
	sum := sumOf(t, filepath.Join(folder, "Cargo.toml"), filepath.Join(folder, "src", "main.rs"))
	built, err := cached("rust-"+sum, func(part string) *exec.Cmd {
		return exec.Command(cargo, "build", "--quiet", "--release", "--jobs", "1", "--manifest-path", filepath.Join(folder, "Cargo.toml"), "--target-dir", part)
	})
	if err != nil {
		Missing(t, "no program in Rust: "+err.Error())
	}
	return filepath.Join(built, "release")
}

// sumOf returns a few characters that change with the content of the files.
func sumOf(t testing.TB, files ...string) string {
	t.Helper()
	h := sha256.New()
	for _, file := range files {
		h.Write(Must(os.ReadFile(file))(t))
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}
