package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
)

// npmPackage is what package.json has.
type npmPackage struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Homepage     string            `json:"homepage"`
	Repository   string            `json:"repository"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Bin          map[string]string `json:"bin,omitempty"`
	Dependencies map[string]string `json:"optionalDependencies,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	Unplugged    bool              `json:"preferUnplugged,omitempty"` // Yarn keeps the program as a file
}

// writeNPM writes a package for each target, of which npm installs the one that fits,
// @oidkit/oid, which depends on all of them and runs it, and @oidkit/objectid. None has a
// script that runs at the installation.
func (r *release) writeNPM(_ context.Context, built []target) error {
	all := map[string]string{}
	for _, t := range targets {
		name := "@oidkit/oid-" + t.node.os + "-" + t.node.cpu
		all[name] = r.version
		if !slices.Contains(built, t) {
			continue
		}
		program := r.program(t)
		err := r.writeNPMPackage(npmPackage{
			Name: name, Description: description + " (the program for " + t.node.os + " on " + t.node.cpu + ")",
			OS: []string{t.node.os}, CPU: []string{t.node.cpu}, Unplugged: true,
		}, "oidkit-oid-"+t.node.os+"-"+t.node.cpu, map[string]string{"bin/" + filepath.Base(program): program})
		if err != nil {
			return err
		}
	}
	err := r.writeNPMPackage(npmPackage{
		Name: "@oidkit/oid", Description: description, Dependencies: all,
		Bin: map[string]string{"oid": "bin/oid.js"}, Engines: map[string]string{"node": ">=18"},
	}, "oidkit-oid", map[string]string{"bin/oid.js": "package/npm/oid.js"})
	if err != nil {
		return err
	}
	return r.writeLibrary()
}

// writeLibrary writes @oidkit/objectid, the folder js, with the version of this release.
func (r *release) writeLibrary() error {
	files := map[string]string{}
	for _, pattern := range []string{"*.js", "*.cjs", "*.mjs", "*.d.ts", "*.d.cts"} { // as "files" in package.json
		found, err := filepath.Glob(filepath.Join(r.root, "js", pattern))
		if err != nil {
			return err
		}
		for _, file := range found {
			files[filepath.Base(file)] = file
		}
	}
	text, err := os.ReadFile(filepath.Join(r.root, "js/package.json"))
	if err != nil {
		return err
	}
	return r.pack("oidkit-objectid", "js", bytes.Replace(text, []byte(`"version": "0.0.0"`), []byte(`"version": "`+r.version+`"`), 1), files)
}

// writeNPMPackage writes a package under the name that "npm pack" gives it.
func (r *release) writeNPMPackage(p npmPackage, file string, files map[string]string) error {
	p.Version, p.License, p.Homepage, p.Repository = r.version, license, homepage, "git+"+homepage+".git"
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	files["LICENSES-THIRD-PARTY"] = filepath.Join(r.root, "LICENSES-THIRD-PARTY")
	return r.pack(file, "", append(text, '\n'), files)
}

// pack writes a package of npm with its package.json, the licence and the README.md of a
// folder.
func (r *release) pack(file, folder string, description []byte, files map[string]string) error {
	readme, err := r.readme(folder)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"package.json": description, "README.md": readme} {
		files[name] = r.temp(file + "-" + name)
		if err := os.WriteFile(files[name], text, 0o644); err != nil {
			return err
		}
	}
	files["LICENSE"] = filepath.Join(r.root, "LICENSE")
	entries, err := entriesOf(files, "package")
	if err != nil {
		return err
	}
	return write(r.path(file+"-"+r.version+".tgz"), func(out io.Writer) error { return r.tarGz(out, entries) })
}

var relativeLink = regexp.MustCompile(`(!?)\[([^\]]*)\]\(([^):#][^):]*)\)`)

// readme returns the README.md of a folder with links that lead to the repository at this
// version: registries show it elsewhere.
func (r *release) readme(folder string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.root, folder, "README.md"))
	if err != nil {
		return nil, err
	}
	return relativeLink.ReplaceAllFunc(text, func(link []byte) []byte {
		m := relativeLink.FindSubmatch(link)
		kind := "blob"
		if len(m[1]) > 0 { // a picture
			kind = "raw"
		}
		return fmt.Appendf(nil, "%s[%s](%s/%s/v%s/%s)", m[1], m[2], homepage, kind, r.version, path.Join(folder, string(m[3])))
	}), nil
}
