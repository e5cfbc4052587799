package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
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

// writeNPM writes a package for each target, of which npm installs the one that fits, and
// @oidkit/oid, which depends on all of them and runs it. None has a script that runs at the
// installation.
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
	return r.writeNPMPackage(npmPackage{
		Name: "@oidkit/oid", Description: description, Dependencies: all,
		Bin: map[string]string{"oid": "bin/oid.js"}, Engines: map[string]string{"node": ">=18"},
	}, "oidkit-oid", map[string]string{"bin/oid.js": "package/npm/oid.js"})
}

// writeNPMPackage writes a package under the name that "npm pack" gives it.
func (r *release) writeNPMPackage(p npmPackage, file string, files map[string]string) error {
	p.Version, p.License, p.Homepage, p.Repository = r.version, license, homepage, "git+"+homepage+".git"
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	files["package.json"] = r.temp(file + ".json")
	files["README.md"] = filepath.Join(r.root, "README.md")
	files["LICENSE"] = filepath.Join(r.root, "LICENSE")
	files["LICENSES-THIRD-PARTY"] = filepath.Join(r.root, "LICENSES-THIRD-PARTY")
	if err := os.WriteFile(files["package.json"], append(text, '\n'), 0o644); err != nil {
		return err
	}
	data, err := r.tarred(files, "package")
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(file+"-"+r.version+".tgz"), data, 0o644)
}
