package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// archiveName returns the name of the archive with the program for t.
func (r *release) archiveName(t target) string {
	ending := ".tar.gz"
	if t.os == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("oid_%s_%s_%s%s", r.version, t.os, t.arch, ending)
}

// writeArchives packs each program with the manual pages, licences and completions.
func (r *release) writeArchives(_ context.Context, targets []target) error {
	for _, t := range targets {
		files := map[string]string{ // name in the archive: file
			filepath.Base(r.program(t)): r.program(t),
			"LICENSE":                   filepath.Join(r.root, "LICENSE"),
			"LICENSES-THIRD-PARTY":      filepath.Join(r.root, "LICENSES-THIRD-PARTY"),
			"README.md":                 filepath.Join(r.root, "README.md"),
			"CHANGELOG.md":              filepath.Join(r.root, "CHANGELOG.md"),
		}
		pages, err := filepath.Glob(r.temp("man/*.1"))
		if err != nil {
			return err
		}
		for _, page := range pages {
			files["man/"+filepath.Base(page)] = page
		}
		for _, shell := range []string{"bash", "zsh", "fish"} {
			files["completions/oid."+shell] = r.temp("completion." + shell)
		}
		pack, folder := r.tarGz, "oid-"+r.version
		if t.os == "windows" {
			pack, folder = r.zip, ""
		}
		entries, err := entriesOf(files, folder)
		if err != nil {
			return err
		}
		data, err := pack(entries)
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.path(r.archiveName(t)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// entry is a file in an archive, or a folder if its name ends in a slash.
type entry struct {
	name string
	mode int64
	data []byte
	uid  int
}

// entriesOf reads files, by their names in an archive, as entries of a folder in it, in the
// order of the names.
func entriesOf(files map[string]string, folder string) (all []entry, err error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		e := entry{name: path.Join(folder, name), mode: 0o644}
		if slices.Contains([]string{"oid", "oid.exe", "oid.js"}, path.Base(name)) {
			e.mode = 0o755
		}
		if e.data, err = os.ReadFile(files[name]); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// tar writes entries as a tar archive to out.
func (r *release) tar(out io.Writer, entries []entry) error {
	w := tar.NewWriter(out)
	for _, e := range entries {
		h := tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: r.time, Uid: e.uid, Gid: e.uid}
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := w.Write(e.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func (r *release) tarGz(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	err = errors.Join(r.tar(z, entries), z.Close())
	return b.Bytes(), err
}

func (r *release) zip(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(fs.FileMode(e.mode))
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// writeChecksums writes the SHA-256 of each artifact, in the format of sha256sum.
func (r *release) writeChecksums(context.Context, []target) error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		sum, err := checksum(r.path(e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(r.path("SHA256SUMS"), []byte(b.String()), 0o644)
}

func checksum(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), nil
}
