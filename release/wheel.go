package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// wheelName is the name of the distribution on PyPI.
const wheelName = "oidkit"

// preRelease finds the part of a version after the numbers that PyPI has another form for.
var preRelease = regexp.MustCompile(`-(alpha|beta|rc)\.?(\d+)$`)

// wheelVersion returns the version in the form of PEP 440: 1.0.0-rc.1 is 1.0.0rc1.
func (r *release) wheelVersion() (string, error) {
	v := preRelease.ReplaceAllStringFunc(r.version, func(s string) string {
		m := preRelease.FindStringSubmatch(s)
		return map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[1]] + m[2]
	})
	if strings.Contains(v, "-") {
		return "", fmt.Errorf("version %q has no form for PyPI; write 1.2.3, or 1.2.3-rc.1 (alpha, beta)", r.version)
	}
	return v, nil
}

// writeWheels writes a wheel for each target, with the program in its scripts, as the
// binary distribution format of PyPA describes it.
func (r *release) writeWheels(_ context.Context, targets []target) error {
	version, err := r.wheelVersion()
	if err != nil {
		return err
	}
	readme, err := r.readme("")
	if err != nil {
		return err
	}
	for _, t := range targets {
		tags := "Tag: py3-none-" + strings.ReplaceAll(t.wheel, ".", "\nTag: py3-none-") + "\n"
		name := wheelName + "-" + version
		info := name + ".dist-info/"
		files, err := entriesOf(map[string]string{
			name + ".data/scripts/" + filepath.Base(r.program(t)): r.program(t),
			info + "LICENSE":              filepath.Join(r.root, "LICENSE"),
			info + "LICENSES-THIRD-PARTY": filepath.Join(r.root, "LICENSES-THIRD-PARTY"),
		}, "")
		if err != nil {
			return err
		}
		files = append(files,
			entry{info + "METADATA", 0o644, fmt.Appendf(nil, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nHome-page: %s\nLicense: %s\nRequires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n%s", wheelName, version, description, homepage, license, readme), 0},
			entry{info + "WHEEL", 0o644, fmt.Appendf(nil, "Wheel-Version: 1.0\nGenerator: oid-release (%s)\nRoot-Is-Purelib: false\n%s", version, tags), 0})
		var record bytes.Buffer
		for _, f := range files {
			sum := sha256.Sum256(f.data)
			fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
		}
		fmt.Fprintf(&record, "%sRECORD,,\n", info)
		files = append(files, entry{info + "RECORD", 0o644, record.Bytes(), 0})
		if err := write(r.path(name+"-py3-none-"+t.wheel+".whl"), func(out io.Writer) error { return r.zip(out, files) }); err != nil {
			return err
		}
	}
	return nil
}
