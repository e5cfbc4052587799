package main

import (
	"archive/tar"
	"archive/zip"
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
		if err := write(r.path(r.archiveName(t)), func(out io.Writer) error { return pack(out, entries) }); err != nil {
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

func (r *release) tarGz(out io.Writer, entries []entry) error {
	return compressed(out, func(w io.Writer) error { return r.tar(w, entries) })
}

func (r *release) zip(out io.Writer, entries []entry) error {
	w := zip.NewWriter(out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(fs.FileMode(e.mode))
		f, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// write writes a file with what fill writes.
func write(file string, fill func(io.Writer) error) error {
	w, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(fill(w), w.Close())
}

// compressed writes to out what fill writes, without a name and a time in it.
func compressed(out io.Writer, fill func(io.Writer) error) error {
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(fill(z), z.Close())
}

// compress writes a file as another one.
func compress(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return write(to, func(out io.Writer) error {
		return compressed(out, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	})
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
