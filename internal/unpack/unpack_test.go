package unpack_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/unpack"
)

// files are the files that the programs of the tests pack.
var files = map[string]string{
	"dump/shop/orders.bson":          strings.Repeat("documents\n", 20_000),
	"dump/shop/orders.metadata.json": "{}",
	"logs/app.log":                   "one line\n",
	"logs/ein Übel.log":              "another line\n",
	"logs/.hidden":                   "nothing",
	"empty":                          "",
}

// visible are the files that are read.
func visible() map[string]string {
	out := maps.Clone(files)
	delete(out, "logs/.hidden")
	return out
}

// shell runs a command in folder and returns what it writes.
func shell(t testing.TB, folder, command string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -e -o pipefail; "+command)
	var failed bytes.Buffer
	cmd.Dir, cmd.Stderr = folder, &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, &failed)
	}
	return out
}

// unpacked writes the files to a new folder.
func unpacked(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// walk returns the contents of the files in in by path, and the errors by path.
func walk(in io.Reader, o unpack.Options) (contents, wrong map[string]string) {
	contents, wrong = map[string]string{}, map[string]string{}
	_ = unpack.Walk(in, o, func(path string, c *unpack.Content, err error) error {
		if c != nil {
			defer c.Close()
			var data []byte
			if data, err = io.ReadAll(c); err == nil {
				contents[path] = string(data)
			}
		}
		if err != nil {
			wrong[path] = err.Error()
		}
		return nil
	})
	return contents, wrong
}

// check compares what was read with what was packed.
func check(t *testing.T, what string, in io.Reader, want map[string]string) {
	t.Helper()
	got, wrong := walk(in, unpack.Options{})
	if len(wrong) > 0 {
		t.Errorf("%s: errors %v", what, wrong)
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: files %q, want %q", what, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// pack has commands that pack standard input, with the settings that change the format.
var pack = []string{
	"gzip", "gzip -1", "cat <(echo -n | gzip)", "xz", "xz --check=crc32 -0", "xz --check=sha256 -9e", "xz --check=none", "xz --block-size=64KiB -T2", "bzip2 -1", "bzip2 -9",
	"lz4", "lz4 -9 -B4 -BD", "lz4 --content-size --no-frame-crc", "lz4 -l", "zstd", "zstd -19 --long=27", "zstd --no-check -T2",
}

// Files that the real programs packed have the contents that were packed, alone and in tar.
func TestPrograms(t *testing.T) {
	folder := unpacked(t)
	text := files["dump/shop/orders.bson"]
	for _, program := range pack {
		data := shell(t, folder, program+" < dump/shop/orders.bson")
		if strings.HasPrefix(program, "cat") {
			data = append(data, shell(t, folder, "gzip < dump/shop/orders.bson")...)
		}
		check(t, program, bytes.NewReader(data), map[string]string{"": text})
		// Each of these programs reads one file after the other as one.
		twice := append(bytes.Clone(data), data...)
		if program != "lz4 -l" {
			check(t, "twice "+program, bytes.NewReader(twice), map[string]string{"": text + text})
		}
		if !strings.HasPrefix(program, "cat") {
			check(t, "tar | "+program, bytes.NewReader(shell(t, folder, "tar c * | "+program)), visible())
		}
	}
	for _, tar := range []string{"tar c *", "tar c .", "tar c -H v7 *", "tar c -H ustar *", "tar c -H pax *", "tar c -H gnu -b 1 *", "tar c --format=oldgnu *"} {
		check(t, tar, bytes.NewReader(shell(t, folder, tar)), visible())
	}
	for _, zip := range []string{"zip -qr - .", "zip -qr -0 - .", "zip -qr -fz .x.zip . && cat .x.zip && rm .x.zip"} {
		data := shell(t, folder, zip)
		check(t, zip+" from a pipe", bytes.NewReader(data), visible())
		name := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		check(t, zip+" from a file", f, visible())
	}
}

// Containers in containers are read, as deep as is allowed.
func TestNested(t *testing.T) {
	folder := unpacked(t)
	shell(t, folder, "tar czf x.tar.gz logs/app.log; gzip -k logs/app.log; tar cf y.tar x.tar.gz logs/app.log.gz; zip -q z.zip y.tar x.tar.gz")
	data, err := os.ReadFile(filepath.Join(folder, "z.zip"))
	if err != nil {
		t.Fatal(err)
	}
	const line = "one line\n"
	got, wrong := walk(bytes.NewReader(data), unpack.Options{})
	if want := map[string]string{"y.tar: logs/app.log.gz": line, "y.tar: x.tar.gz: logs/app.log": line, "x.tar.gz: logs/app.log": line}; !maps.Equal(got, want) || len(wrong) > 0 {
		t.Errorf("%v, %v, want %v", got, wrong, want)
	}
	deep := shell(t, folder, "gzip < logs/app.log | gzip | gzip | gzip")
	check(t, "four times gzip", bytes.NewReader(deep), map[string]string{"": line})
	for _, program := range []string{"gzip", "tar c logs/app.log | gzip | gzip | gzip | gzip"} {
		in := bytes.NewReader(deep)
		cmd := exec.CommandContext(t.Context(), "bash", "-c", program)
		cmd.Dir, cmd.Stdin = folder, in
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if _, wrong := walk(bytes.NewReader(out), unpack.Options{}); !strings.Contains(fmt.Sprint(wrong), "more than 4 compressions and containers around it") {
			t.Errorf("%s: %v", program, wrong)
		}
	}
}
