package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the one that the image runs as; it has no name on the host.
const user = "65532:65532"

// writeImage writes an image with the program and nothing else but the certificates
// of public authorities, for each target with Linux on 64 bits. "docker load" and
// "podman load" read it.
func (r *release) writeImage(_ context.Context, targets []target) error {
	for _, t := range targets {
		if t.os != "linux" || t.arch == "386" {
			continue
		}
		image, err := r.image(t)
		if err != nil {
			return err
		}
		tag, err := name.NewTag("oid:" + r.version)
		if err != nil {
			return err
		}
		if err := tarball.WriteToFile(r.path("oid_"+r.version+"_image_"+t.arch+".tar"), tag, image); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) image(t target) (v1.Image, error) {
	program, err := os.ReadFile(r.program(t))
	if err != nil {
		return nil, err
	}
	licences, err := os.ReadFile(filepath.Join(r.root, "LICENSES-THIRD-PARTY"))
	if err != nil {
		return nil, err
	}
	var authorities bytes.Buffer
	for root := range bundle.Roots() {
		if err := pem.Encode(&authorities, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	err = r.tar(&b, []entry{
		{"etc/passwd", 0o644, []byte("oid:x:65532:65532::/data:/nonexistent\n"), 0},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, authorities.Bytes(), 0},
		{"usr/bin/oid", 0o755, program, 0},
		{"usr/share/doc/oid/LICENSES-THIRD-PARTY", 0o644, licences, 0},
		{"data/", 0o700, nil, 65532},
		{"tmp/", 0o1777, nil, 0},
	})
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/oid"}, Cmd: []string{"help"}, User: user, WorkingDir: "/data",
		Env:     []string{"PATH=/usr/bin", "HOME=/data", "OID_STORE=sqlite:/data/oid.db"},
		Volumes: map[string]struct{}{"/data": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "oid", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "MIT", "org.opencontainers.image.source": "https://github.com/oidkit/oid",
		},
	}
	return mutate.ConfigFile(image, config)
}
