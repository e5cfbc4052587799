package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// packings are the ways in which people pack files, each with the program that unpacks them.
// FILE is the packed file, and "documents" the file in it.
var packings = []struct{ name, pack, unpack string }{
	{"gzip", "gzip -c documents", "gzip -dc < FILE"},
	{"tar and gzip", "tar cz documents", "tar xzO -f FILE"},
	{"zip", "zip -q - documents", "unzip -p FILE"},
	{"zstd", "zstd -qc documents", "zstd -dc < FILE"},
	{"lz4", "lz4 -qc documents", "lz4 -dc < FILE"},
	{"xz", "xz -T0 -2 -c documents", "xz -dc < FILE"},
	{"bzip2", "bzip2 -c documents", "bzip2 -dc < FILE"},
}

// packed returns contests between oid, which reads packed JSON lines, and the program that
// unpacks them for it.
func packed(oid string, census command, n int) (contests []contest) {
	for _, p := range packings {
		before := command{p.unpack + ` \| oid census`, func(file string) []string {
			return []string{"sh", "-c", strings.ReplaceAll(p.unpack, "FILE", file) + " | " + oid + " census"}
		}}
		alone := command{p.unpack, func(file string) []string {
			return []string{"sh", "-c", strings.ReplaceAll(p.unpack, "FILE", file) + " > /dev/null"}
		}}
		contests = append(contests, contest{"mongoexport JSON lines, " + p.name, n, 180, func(w io.Writer, n, size int) error {
			return pack(w, p.pack, n, size)
		}, []command{census, before, alone}})
	}
	return contests
}

// pack writes documents to a file and the output of command, which packs it, to w.
func pack(w io.Writer, command string, n, size int) error {
	dir, err := os.MkdirTemp("", "oid-bench-packed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := writeFile(filepath.Join(dir, "documents"), func(w io.Writer) error { return writeJSON(w, n, size) }); err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, w, os.Stderr
	return cmd.Run()
}
