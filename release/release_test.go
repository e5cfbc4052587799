package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
)

// here is the target that this machine can run.
var here = "linux/" + runtime.GOARCH

// built returns a release for this machine.
func built(t *testing.T, version string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("packages are tried on Linux")
	}
	out := filepath.Join(t.TempDir(), "dist")
	if err := run(t.Context(), version, out, here); err != nil {
		t.Fatal(err)
	}
	return out
}

// one returns the only file that matches pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v; want one file", pattern, found, err)
	}
	return found[0]
}

// Somebody who builds a release again gets the same bytes; the packages are clean, and
// the package of Debian is installed, used, upgraded, removed and purged.
func TestRelease(t *testing.T) {
	first, second := built(t, "0.1.0"), built(t, "0.1.0")
	a, err := os.ReadFile(filepath.Join(first, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(second, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("two builds differ:\n%s\n%s", a, b)
	}
	check := exec.Command("sha256sum", "-c", "SHA256SUMS")
	check.Dir = first
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	t.Run("archive", func(t *testing.T) { testArchive(t, one(t, first, "oid_0.1.0_linux_*.tar.gz")) })
	t.Run("image", func(t *testing.T) { testImage(t, one(t, first, "oid_0.1.0_image_*.tar")) })
	t.Run("npm", func(t *testing.T) { testNPM(t, first) })
	t.Run("library", func(t *testing.T) { testLibrary(t, one(t, first, "oidkit-objectid-0.1.0.tgz")) })
	t.Run("first id", func(t *testing.T) { testFirstID(t, first) })
	t.Run("wheel", func(t *testing.T) { testWheel(t, one(t, first, "*.whl")) })
	t.Run("bill of materials", func(t *testing.T) { testMaterials(t, one(t, first, "*.cdx.json")) })
	t.Run("tags", func(t *testing.T) { testTags(t, first) })
	t.Run("deb", func(t *testing.T) { testDebian(t, one(t, first, "*.deb"), one(t, built(t, "0.1.1"), "*.deb")) })
	t.Run("lintian", func(t *testing.T) {
		clean(t, "lintian", "--allow-root", "--fail-on", "error,warning", one(t, first, "*.deb"))
	})
	t.Run("rpmlint", func(t *testing.T) {
		clean(t, "rpmlint", "-c", "package/rpmlint.toml", one(t, first, "*.rpm"))
	})
}

// clean runs a checker of packages. Without it the test is skipped, or fails where
// everything must run.
func clean(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name)
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("OID_REQUIRE_ALL") == "1" {
		t.Fatalf("%s is missing; run .ci/setup", what)
	}
	t.Skipf("%s is missing; run .ci/setup", what)
}

func testArchive(t *testing.T, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	names := unpack(t, tar.NewReader(z), t.TempDir())
	for _, want := range []string{"oid-0.1.0/oid", "oid-0.1.0/LICENSE", "oid-0.1.0/LICENSES-THIRD-PARTY", "oid-0.1.0/man/oid-lock.1", "oid-0.1.0/completions/oid.bash"} {
		if !slices.Contains(names, want) {
			t.Errorf("the archive has no %s: %v", want, names)
		}
	}
}

// unpack writes a tar archive into dir and checks the program in it.
func unpack(t *testing.T, r *tar.Reader, dir string) (names []string) {
	t.Helper()
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if filepath.Base(h.Name) != "oid" || h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 30<<20 {
			t.Errorf("the program has %d bytes, want 30 MiB at most", len(data))
		}
		program := filepath.Join(dir, "oid")
		if err := os.WriteFile(program, data, os.FileMode(h.Mode)); err != nil {
			t.Fatal(err)
		}
		testVersion(t, program)
	}
}

func testImage(t *testing.T, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
	}
	var names []string
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasPrefix(h.Name, "sha256:"):
			err = json.NewDecoder(r).Decode(&config)
		case strings.HasSuffix(h.Name, ".tar.gz"):
			var z *gzip.Reader
			if z, err = gzip.NewReader(r); err == nil {
				names = unpack(t, tar.NewReader(z), t.TempDir())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if config.Config.User != user || !slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/oid"}) {
		t.Errorf("config %+v", config)
	}
	for _, want := range []string{"usr/bin/oid", "etc/ssl/certs/ca-certificates.crt", "data/"} {
		if !slices.Contains(names, want) {
			t.Errorf("the image has no %s: %v", want, names)
		}
	}
}

func testMaterials(t *testing.T, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(f, cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"std", "modernc.org/sqlite", "github.com/redis/rueidis"} {
		if !slices.ContainsFunc(*bom.Components, func(c cyclonedx.Component) bool { return c.Name == want && c.Version != "" }) {
			t.Errorf("the bill of materials has no %s", want)
		}
	}
}

// A rehearsal of .ci/publish pushes both tags at once.
func testTags(t *testing.T, dir string) {
	out, err := exec.CommandContext(t.Context(), "../.ci/publish", "--rehearse", dir, "tags").CombinedOutput()
	for _, want := range []string{"-> objectid/v0.1.0\n", "-> v0.1.0\n"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v\n%s\nwant %q", err, out, want)
		}
	}
}

// onCopy runs a script on a copy of this system that is thrown away: a mount that nobody
// else sees, whose changes are in memory. The files are /1.deb, /2.deb and so on.
func onCopy(t *testing.T, script string, files ...string) ([]byte, error) {
	t.Helper()
	if _, err := exec.LookPath("dpkg"); err != nil {
		missing(t, "dpkg")
	}
	if os.Getuid() != 0 {
		missing(t, "root, for a copy of this system")
	}
	const copied = `set -eu
dir=$1 script=$2
shift 2
mount -t tmpfs tmpfs "$dir"
mkdir "$dir/up" "$dir/work" "$dir/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/up,workdir=$dir/work" "$dir/root"
mount -t proc proc "$dir/root/proc"
n=0
for file; do
	n=$((n + 1))
	cp "$file" "$dir/root/$n.deb"
done
chroot "$dir/root" /bin/sh -eu -c "$script"
`
	cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "sh", "-c", copied, "sh", t.TempDir(), script}, files...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd.CombinedOutput()
}

func testDebian(t *testing.T, first, second string) {
	journey := `export DEBIAN_FRONTEND=noninteractive
exec 2>&1
set -x
dpkg -i /1.deb
test "$(oid --version)" = "oid version 0.1.0"
oid new | grep -qE '^[0-9a-f]{24}$'
systemd-analyze verify /usr/lib/systemd/system/oid.service
test -s /usr/share/man/man1/oid-serve.1.gz
echo '# mine' >> /etc/default/oid
mkdir -p /var/lib/private/oid && echo data > /var/lib/private/oid/oid.db
dpkg -i /2.deb
test "$(oid --version)" = "oid version 0.1.1"
grep -q '# mine' /etc/default/oid
dpkg -r oid
test ! -e /usr/bin/oid
test -s /var/lib/private/oid/oid.db
test -e /etc/default/oid
dpkg -P oid
test ! -e /etc/default/oid
test -s /var/lib/private/oid/oid.db
dpkg -i /2.deb
echo 'oid oid/purge-data boolean true' | debconf-set-selections
dpkg -P oid
test ! -e /var/lib/private/oid
echo finished`
	out, err := onCopy(t, journey, first, second)
	if err != nil || !bytes.HasSuffix(out, []byte("finished\n")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestBadArguments(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	for _, c := range []struct{ version, targets, want string }{
		{"v1", "", "not of the form"},
		{"1.2", "", "not of the form"},
		{"0.1.0", "plan9/amd64", "unknown"},
	} {
		if err := run(context.Background(), c.version, out, c.targets); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("version %q, targets %q: %v; want %q", c.version, c.targets, err, c.want)
		}
	}
	if err := run(context.Background(), "0.1.0", t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a folder that exists: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a release that failed left a folder")
	}
}

// The version of a release without one is that of the commit's tag, and only of its own.
func TestTagged(t *testing.T) {
	folder := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=oid", "-c", "user.email=oid@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	if got, err := tagged(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "-version 0.1.0") {
		t.Errorf("without a tag: %q, %v", got, err)
	}
	git("tag", "nightly")
	git("tag", "-a", "v0.1.0", "-m", "0.1.0")
	if got, err := tagged(t.Context(), folder); got != "0.1.0" || err != nil {
		t.Errorf("with v0.1.0: %q, %v", got, err)
	}
	git("commit", "-q", "--allow-empty", "-m", "two")
	if got, err := tagged(t.Context(), folder); err == nil {
		t.Errorf("after the tag: %q", got)
	}
}
