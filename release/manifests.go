package main

import (
	"context"
	"embed"
	"os"
	"slices"
	"text/template"
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
		w, err := os.Create(r.path(file))
		if err != nil {
			return err
		}
		err = template.Must(template.ParseFS(manifestTemplates, "package/"+name)).Execute(w, values)
		if closed := w.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}
