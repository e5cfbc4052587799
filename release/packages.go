package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// writePackages writes a package of each kind for each target with Linux.
func (r *release) writePackages(_ context.Context, targets []target) error {
	if err := r.writeLicences(); err != nil {
		return err
	}
	changelog, err := r.writeChangelog()
	if err != nil {
		return err
	}
	for _, t := range targets {
		if t.os != "linux" {
			continue
		}
		values := map[string]string{"VERSION": r.version, "ARCH": t.arch, "WORK": r.work}
		config, err := nfpm.ParseFileWithEnvMapping("package/nfpm.yaml", func(name string) string { return values[name] })
		if err != nil {
			return err
		}
		for _, kind := range []string{"deb", "rpm", "apk"} {
			info, err := config.Get(kind)
			if err != nil {
				return err
			}
			info.MTime, info.Homepage, info.License, info.RPM.Summary = r.time, homepage, license, description
			info.Description = strings.ToLower(description[:1]) + description[1:] + "\n" + info.Description
			if kind != "apk" {
				info.Changelog = changelog
			}
			if err := r.writePackage(kind, nfpm.WithDefaults(info)); err != nil {
				return fmt.Errorf("%s for %s: %w", kind, t, err)
			}
		}
	}
	return nil
}

func (r *release) writePackage(kind string, info *nfpm.Info) error {
	packager, err := nfpm.Get(kind)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, kind); err != nil {
		return err
	}
	return write(r.path(packager.ConventionalFileName(info)), func(w io.Writer) error { return packager.Package(info, w) })
}

// writeLicences writes the licences for packages of Debian: its own in the file that
// Debian wants, and those of the modules beside it.
func (r *release) writeLicences() error {
	own, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	text := "oid, from https://github.com/oidkit/oid\n\n" + string(own) +
		"\nThe modules in the program have their own licences, which are in\n/usr/share/doc/oid/LICENSES-THIRD-PARTY.gz.\n"
	if err := os.WriteFile(r.temp("copyright"), []byte(text), 0o644); err != nil {
		return err
	}
	return compress(filepath.Join(r.root, "LICENSES-THIRD-PARTY"), r.temp("LICENSES-THIRD-PARTY.gz"))
}

// writeChangelog writes the changelog of the packages, which names the release.
func (r *release) writeChangelog() (string, error) {
	text := fmt.Sprintf(`- semver: %s
  date: %s
  packager: The oid authors <oid@oidkit.org>
  deb: {urgency: medium, distributions: [stable]}
  changes:
    - note: "Release %s; CHANGELOG.md of the repository lists the changes."
`, r.version, r.time.Format("2006-01-02T15:04:05Z"), r.version)
	file := r.temp("changelog.yaml")
	return file, os.WriteFile(file, []byte(text), 0o644)
}
