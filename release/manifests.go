package main

import (
	"context"
	"debug/buildinfo"
	"embed"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/CycloneDX/cyclonedx-go"
)

//go:embed package/formula.rb.tmpl package/scoop.json.tmpl
var manifestTemplates embed.FS

// writeManifests writes what a Homebrew tap and a Scoop bucket have: where the archives are,
// and their checksums. Without all of the archives there are none.
func (r *release) writeManifests(_ context.Context, built []target) error {
	sums := map[string]string{}
	for _, t := range targets {
		if !slices.Contains(built, t) {
			return nil
		}
		var err error
		if sums[t.os+"_"+t.arch], err = checksum(r.path(r.archiveName(t))); err != nil {
			return err
		}
	}
	values := map[string]any{"Version": r.version, "Sums": sums, "Description": description, "Homepage": homepage, "License": license}
	for file, name := range map[string]string{"oid.rb": "formula.rb.tmpl", "oid.json": "scoop.json.tmpl"} {
		manifest := template.Must(template.ParseFS(manifestTemplates, "package/"+name))
		if err := write(r.path(file), func(w io.Writer) error { return manifest.Execute(w, values) }); err != nil {
			return err
		}
	}
	return nil
}

// writeBillOfMaterials lists the modules that are in the programs, as CycloneDX.
func (r *release) writeBillOfMaterials(_ context.Context, targets []target) error {
	versions := map[string]string{} // by module
	for _, t := range targets {
		info, err := buildinfo.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		versions["std"] = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	var components []cyclonedx.Component
	for module, version := range versions {
		components = append(components, cyclonedx.Component{
			Type: cyclonedx.ComponentTypeLibrary, Name: module, Version: version, BOMRef: module,
			PackageURL: "pkg:golang/" + module + "@" + version,
		})
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return strings.Compare(a.Name, b.Name) })
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: r.time.Format("2006-01-02T15:04:05Z"),
		Component: &cyclonedx.Component{
			Type: cyclonedx.ComponentTypeApplication, Name: "oid", Version: r.version, BOMRef: "oid",
			PackageURL: "pkg:golang/github.com/oidkit/oid@v" + r.version,
		},
	}
	bom.Components = &components
	return write(r.path("oid_"+r.version+"_sbom.cdx.json"), func(w io.Writer) error {
		return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}
