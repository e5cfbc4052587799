package main

import (
	"cmp"
	"os"
	"path/filepath"
)

// maven returns the build of an adapter with the libraries of adapters/pom.xml.
func maven(class string, args ...string) func(string) ([]string, error) {
	return func(dir string) ([]string, error) {
		jars, classes := filepath.Join(dir, "jars"), filepath.Join(dir, class)
		if err := run("mvn", "--quiet", "--batch-mode", "--file", "adapters/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory="+jars); err != nil {
			return nil, err
		}
		path := classes + ":" + jars + "/*"
		return append([]string{"java", "-cp", path, class}, args...), run("javac", "-cp", path, "-d", classes, "adapters/"+class+".java")
	}
}

// inPOM returns the command that prints the version of a library in adapters/pom.xml.
func inPOM(artifact string) []string {
	return []string{"sed", "-n", "/<artifactId>" + artifact + "</{n;s/.*<version>\\(.*\\)<.*/\\1/p}", "adapters/pom.xml"}
}

// crate builds the adapter for Rust, with one job, since the machine may have other work.
func crate(dir string) ([]string, error) {
	target := filepath.Join(dir, "rust")
	err := run("cargo", "build", "--quiet", "--release", "--jobs", "1", "--manifest-path", "adapters/rust/Cargo.toml", "--target-dir", target)
	return []string{filepath.Join(target, "release", "adapter")}, err
}

// unstable returns the build of an adapter that adapters/unstable.sh runs. make is a shell
// command that is run before, or "".
func unstable(command []string, make string) func(string) ([]string, error) {
	return func(dir string) ([]string, error) {
		root := cmp.Or(os.Getenv("UNSTABLE"), filepath.Join(dir, "unstable"))
		if err := os.Setenv("UNSTABLE", root); err != nil {
			return nil, err
		}
		if _, err := os.Stat(root); err != nil {
			// A mirror may be older than its lists allow; their signature is checked.
			if err := run("mmdebstrap", "--quiet", "--variant=extract", `--aptopt=Acquire::Check-Valid-Until "false"`,
				"--include=libbson-dev,php-cli,php-mongodb,ruby-bson", "unstable", root); err != nil {
				return nil, err
			}
		}
		return append([]string{"adapters/unstable.sh"}, command...), run("sh", "-c", make)
	}
}
