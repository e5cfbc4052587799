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
		var data []byte
		if t.os == "windows" {
			data, err = r.zipped(files)
		} else {
			data, err = r.tarred(files, path.Join("oid-"+r.version))
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.path(r.archiveName(t)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func sortedNames(files map[string]string) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// mode is that of a file in an archive.
func mode(name string) int64 {
	if slices.Contains([]string{"oid", "oid.exe", "oid.js"}, path.Base(name)) {
		return 0o755
	}
	return 0o644
}

func (r *release) tarred(files map[string]string, folder string) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, name := range sortedNames(files) {
		data, err := os.ReadFile(files[name])
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: path.Join(folder, name), Mode: mode(name), Size: int64(len(data)), ModTime: r.time}); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (r *release) zipped(files map[string]string) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range sortedNames(files) {
		data, err := os.ReadFile(files[name])
		if err != nil {
			return nil, err
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.time})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
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
