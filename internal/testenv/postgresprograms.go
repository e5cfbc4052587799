package testenv

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

//go:embed postgres.pom.xml
var postgresPOM []byte

// postgresPrograms returns the folder with the programs of PostgreSQL: those of the latest
// version that is installed, or of the version in postgres.pom.xml if the environment variable
// OID_TEST_POSTGRES_PROGRAMS is "maven". Those are copied into folder, which an unprivileged user
// can read.
func postgresPrograms(t testing.TB, folder string) string {
	t.Helper()
	if os.Getenv("OID_TEST_POSTGRES_PROGRAMS") == "maven" {
		Run(t, exec.Command("cp", "-r", mavenPostgres(t), folder+"/programs"))
		return folder + "/programs/bin"
	}
	programs, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if programs == nil {
		Missing(t, "PostgreSQL is not installed: apt-get install postgresql; or set OID_TEST_POSTGRES to the URL of a server")
	}
	return filepath.Dir(slices.Max(programs))
}

// mavenPostgres returns a folder with the programs that the package in postgres.pom.xml contains.
func mavenPostgres(t testing.TB) string {
	t.Helper()
	dir := Must(os.MkdirTemp("", "oid-test-*"))(t)
	defer os.RemoveAll(dir)
	pom := filepath.Join(dir, "pom.xml")
	NoError(t, os.WriteFile(pom, postgresPOM, 0o644))
	jars := Jars(t, pom)
	folder, err := cached("postgres-"+filepath.Base(jars), func(part string) *exec.Cmd {
		return exec.Command("sh", "-euc", `mkdir "$2"; unzip -p "$1"/*.jar '*.txz' | tar -xJ -C "$2"`, "sh", jars, part)
	})
	NoError(t, err)
	return folder
}
