package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"
)

// offer adds a module of the commit in r.root, which is in folder, to the module proxy in
// r.proxy, a folder that GOPROXY can name. So the programs are built before anything is
// published.
func (r *release) offer(path, folder string) error {
	version := module.Version{Path: path, Version: "v" + r.version}
	mod, err := os.ReadFile(filepath.Join(r.root, folder, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version.Version, "Time": r.time})
	if err != nil {
		return err
	}
	files := filepath.Join(r.proxy, path, "@v")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return err
	}
	file := func(ending string) string { return filepath.Join(files, version.Version+ending) }
	if err := write(file(".zip"), func(w io.Writer) error { return modzip.CreateFromVCS(w, version, r.root, "HEAD", folder) }); err != nil {
		return err
	}
	if err := os.WriteFile(file(".mod"), mod, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(file(".info"), info, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(files, "list"), []byte(version.Version+"\n"), 0o644)
}

// addSums adds the hashes of objectid to go.sum.
func (r *release) addSums() error {
	version := "v" + r.version
	offered := filepath.Join(r.proxy, idModule, "@v", version)
	sum, err := dirhash.HashZip(offered+".zip", dirhash.Hash1)
	if err != nil {
		return err
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(offered + ".mod") })
	if err != nil {
		return err
	}
	file := filepath.Join(r.root, "go.sum")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	at := slices.IndexFunc(lines, func(line string) bool { return line > idModule })
	lines = slices.Insert(lines, at, fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", idModule, version, sum, idModule, version, modSum))
	return os.WriteFile(file, []byte(strings.Join(lines, "")), 0o644)
}
