package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// adapter is a program that lets the judge test a library.
type adapter struct {
	language, library string
	source            string                             // below adapters
	install           string                             // how its library is had
	versionOf         []string                           // a command that prints its version
	build             func(dir string) ([]string, error) // returns the command of the adapter
	noClock           string                             // why --clock cannot be used
	noFork            string                             // why --fork cannot be used
	noDecode          string                             // why --decode cannot be used
	json              bool                               // it has decode-json
}

func (a adapter) name() string { return a.language + " " + a.library }

const (
	noForkInGo = "Go programs do not fork"
	goAsks     = "Go asks for the time without the C library"

	noForkInJava = "Java programs do not fork"
	libbson2     = "PKG_CONFIG_SYSROOT_DIR=$UNSTABLE PKG_CONFIG_LIBDIR=$(echo $UNSTABLE/usr/lib/*/pkgconfig) pkg-config "
)

// npmPackages are what npm installs for one run.
var npmPackages = []string{"bson@7.3.4", "bson-7.1@npm:bson@7.1.0", "bson-objectid@2.0.4", "mongoose@9.12.1", "uniku@0.5.0"}

var adapters = []adapter{
	ofGo("oid", "", "github.com/oidkit/oid"),
	ofGo("mongo-driver", goAsks, "go.mongodb.org/mongo-driver/v2"),
	ofGo("mongo-driver-v1", goAsks, "go.mongodb.org/mongo-driver"),
	ofGo("mgo", goAsks, "github.com/globalsign/mgo"),
	ofGo("xid", goAsks, "github.com/rs/xid"),
	{
		language: "C", library: "libbson", source: "libbson.c", install: "apt-get install gcc pkg-config mmdebstrap", versionOf: []string{"sh", "-c", libbson2 + "--modversion bson2"},
		build: func(dir string) ([]string, error) {
			program := filepath.Join(dir, "libbson2")
			// The C library of this system is older than the one that libbson needs.
			return unstable([]string{program}, "gcc -O2 -Wl,--unresolved-symbols=ignore-in-shared-libs -o "+program+" adapters/libbson.c $("+libbson2+"--cflags --libs bson2)")(dir)
		},
	},
	{
		language: "C", library: "libbson 1", source: "libbson.c", install: "apt-get install gcc libbson-dev pkg-config",
		versionOf: []string{"pkg-config", "--modversion", "libbson-1.0"},
		build: func(dir string) ([]string, error) {
			program := filepath.Join(dir, "libbson")
			return []string{program}, run("sh", "-c", "gcc -O2 -o "+program+" adapters/libbson.c $(pkg-config --cflags --libs libbson-1.0)")
		},
	},
	ofNode("bson"),
	ofSnapshot("bson"),
	ofSnapshot("bson-7.1"),
	ofNode("bson-objectid"),
	ofNode("mongoose"),
	ofNode("uniku"),
	ofNode("@oidkit/objectid"),
	{
		language: "PHP", library: "mongodb", source: "mongodb.php", install: "apt-get install mmdebstrap",
		versionOf: []string{"adapters/unstable.sh", "php", "-r", "echo phpversion('mongodb');"}, build: unstable([]string{"php", "adapters/mongodb.php"}, ""),
	},
	{
		language: "PHP", library: "mongodb 1", source: "mongodb.php", install: "apt-get install php-cli php-mongodb",
		versionOf: []string{"php", "-r", "echo phpversion('mongodb');"}, build: script("php", "mongodb.php"),
		noClock: "PHP 8.2 loads its extensions so that libfaketime does not reach them",
	},
	{
		language: "Java", library: "bson", source: "MongoDriver.java", install: "apt-get install default-jdk-headless maven",
		versionOf: inPOM("bson"), build: maven("MongoDriver"), noFork: noForkInJava,
	},
	{
		language: "Java", library: "mongo-java-driver", source: "MongoDriver.java", install: "apt-get install default-jdk-headless libmongodb-java",
		versionOf: []string{"sh", "-c", "dpkg-query -f '${Version}' -W libmongodb-java | sed 's/-.*//'"},
		build: func(dir string) ([]string, error) {
			const jar = "/usr/share/java/mongo-java-driver.jar"
			return []string{"java", "-cp", dir + ":" + jar, "MongoDriver"}, run("javac", "-cp", jar, "-d", dir, "adapters/MongoDriver.java")
		},
		noFork: noForkInJava,
	},
	{
		language: "Kotlin", library: "kbson", source: "Jvm.java", install: "apt-get install default-jdk-headless maven",
		versionOf: inPOM("kbson-jvm"), build: maven("Jvm", "kbson"), noFork: noForkInJava,
	},
	{
		language: "Scala", library: "reactivemongo-bson", source: "Jvm.java", install: "apt-get install default-jdk-headless maven",
		versionOf: inPOM("reactivemongo-bson-api_2.13"), build: maven("Jvm", "reactivemongo"), noFork: noForkInJava,
	},
	{
		language: "Rust", library: "bson", source: "rust", install: "apt-get install cargo-web",
		versionOf: []string{"sed", "-n", `s/^bson = "=\(.*\)"/\1/p`, "adapters/rust/Cargo.toml"}, build: crate,
	},
	{
		language: "Ruby", library: "bson", source: "bson.rb", install: "apt-get install mmdebstrap",
		versionOf: []string{"adapters/unstable.sh", "ruby", "-e", "require 'bson'; puts BSON::VERSION"}, build: unstable([]string{"ruby", "adapters/bson.rb"}, ""),
	},
	{
		language: "Ruby", library: "bson 4", source: "bson.rb", install: "apt-get install ruby-bson",
		versionOf: []string{"ruby", "-e", "require 'bson'; puts BSON::VERSION"}, build: script("ruby", "bson.rb"),
	},
	ofPyPI("pymongo", "4.20.1"),
	{
		language: "Python", library: "pymongo 3", source: "pymongo.py", install: "apt-get install python3-pymongo",
		versionOf: []string{"/usr/bin/python3", "-c", "import pymongo; print(pymongo.version)"},
		build:     script("/usr/bin/python3", "pymongo.py"),
	},
	ofPyPI("bson", "0.5.10"),
	{
		language: "Perl", library: "BSON", source: "bson.pl", install: "apt-get install libbson-perl",
		versionOf: []string{"perl", "-MBSON", "-e", "print BSON->VERSION"}, build: script("perl", "bson.pl"),
	},
}

// ofGo returns the adapter of a library for Go, which is a module.
func ofGo(name, noClock, module string) adapter {
	a := adapter{
		language: "Go", library: name, source: "golang", install: "go build", noClock: noClock, noFork: noForkInGo, json: true,
		versionOf: []string{"go", "list", "-m", "-f", "{{.Version}}", module},
		build: func(dir string) ([]string, error) {
			program := filepath.Join(dir, "golang")
			return []string{program, name}, run("go", "build", "-o", program, "./adapters/golang")
		},
	}
	if name == "oid" {
		a.versionOf = []string{"echo", "this version"}
	}
	if name == "xid" {
		a.noDecode, a.json = "its texts are not hexadecimal digits", false
	}
	return a
}

// ofPyPI returns the adapter of a package of PyPI in exactly this version.
func ofPyPI(name, version string) adapter {
	return adapter{
		language: "Python", library: name, source: "pymongo.py", install: "apt-get install python3-pip", versionOf: []string{"echo", version},
		build: func(dir string) ([]string, error) {
			folder := filepath.Join(dir, name+"-"+version)
			err := run("python3", "-m", "pip", "install", "--quiet", "--target", folder, name+"=="+version)
			return []string{"env", "PYTHONPATH=" + folder, "python3", "adapters/pymongo.py"}, err
		},
	}
}

// ofNode returns the adapter of a package of npm.
func ofNode(name string) adapter {
	a := adapter{
		language: "Node", library: name, source: "node.js", install: "npm install " + name,
		versionOf: versionInNode(name),
		build: func(dir string) ([]string, error) {
			return []string{"node", "adapters/node.js", name}, installInNode(dir)
		},
		noFork: "Node does not fork: its child processes start from the beginning",
	}
	if name == "@oidkit/objectid" {
		a.versionOf, a.install = []string{"echo", "this version"}, "npm install ../../js"
	}
	return a
}

// ofSnapshot returns the adapter of a package of npm, bson in some version, for programs
// that start from one snapshot.
func ofSnapshot(name string) adapter {
	const as = "tested without a snapshot only"
	return adapter{
		language: "Node", library: strings.Replace(name, "-", " ", 1) + " in a snapshot", source: "node-snapshot.js", install: "npm install bson",
		versionOf: versionInNode(name),
		build: func(dir string) ([]string, error) {
			blob := filepath.Join(dir, name+".blob")
			if err := installInNode(dir); err != nil {
				return nil, err
			}
			return []string{"node", "--snapshot-blob", blob}, run("node", "--snapshot-blob", blob,
				"--build-snapshot", "adapters/node-snapshot.js", filepath.Join(dir, "node_modules", name, "lib", "bson.cjs"))
		},
		noClock: as, noFork: as, noDecode: as,
	}
}

// versionInNode returns the command that prints the version of a package of npm.
func versionInNode(name string) []string {
	return []string{"node", "-p", "require(require('path').join(process.env.NODE_PATH, '" + name + "/package.json')).version"}
}

// installInNode gets npmPackages, unless they are there.
func installInNode(dir string) error {
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return nil
	}
	if err := os.Setenv("NODE_PATH", modules); err != nil {
		return err
	}
	ours, err := filepath.Abs("../../js")
	if err != nil {
		return err
	}
	install := []string{"npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--install-links", "--prefix", dir, ours}
	return run(append(install, npmPackages...)...)
}

// script returns a build that has nothing to do.
func script(interpreter, file string) func(string) ([]string, error) {
	return func(string) ([]string, error) { return []string{interpreter, "adapters/" + file}, nil }
}

// run runs a command, whose output is shown only if it fails.
func run(command ...string) error {
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
