package main

import (
	"context"
	_ "embed"
	"os"
	"slices"
	"text/template"
)

//go:embed package/formula.rb.tmpl
var formula string

// writeFormula writes the formula with which Homebrew installs the archives. Without
// all of them there is none.
func (r *release) writeFormula(_ context.Context, built []target) error {
	sums := map[string]string{}
	for _, t := range targets {
		if t.arch == "386" || t.os == "windows" {
			continue
		}
		if !slices.Contains(built, t) {
			return nil
		}
		var err error
		if sums[t.os+"_"+t.arch], err = checksum(r.path(r.archiveName(t))); err != nil {
			return err
		}
	}
	w, err := os.Create(r.path("oid.rb"))
	if err != nil {
		return err
	}
	err = template.Must(template.New("formula").Parse(formula)).Execute(w, map[string]any{"Version": r.version, "Sums": sums})
	if closed := w.Close(); err == nil {
		err = closed
	}
	return err
}
