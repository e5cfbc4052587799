// Command release builds what a release of oid consists of: programs for each system,
// packages for Linux, npm and PyPI, an image for containers, manifests for Homebrew and
// Scoop, a bill of materials, and checksums. The same commit and version give the same bytes.
//
//	cd release && go run . -version 0.1.0 -o ../dist
//
// It builds the commit that is checked out, and puts the tags of the release into a bundle,
// from which .ci/publish pushes them. It needs git, the Go toolchain and its module proxy,
// and no other network.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// release is what all artifacts have in common.
type release struct {
	version string    // without v
	time    time.Time // of the commit; files in archives get it
	dir     string    // where the artifacts go
	work    string    // temporary files
	root    string    // a clone of the repository, with the commit of the release
	proxy   string    // a module proxy of files, which has objectid
	env     []string  // the environment of the Go command
}

var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	version := flag.String("version", "", "version of the release, such as 0.1.0; default that of the commit's tag, such as v0.1.0")
	out := flag.String("o", "../dist", "folder for the artifacts, which must not exist")
	only := flag.String("targets", "", "build for these targets alone, such as linux/amd64,darwin/arm64")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *version, *out, *only); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, version, out, only string) (err error) {
	if version == "" {
		if version, err = tagged(ctx, ".."); err != nil {
			return err
		}
	}
	if !versionPattern.MatchString(version) {
		return fmt.Errorf("version %q is not of the form 1.2.3; write -version 0.1.0", version)
	}
	targets, err := chosen(only)
	if err != nil {
		return err
	}
	if _, err := os.Stat(out); err == nil {
		return fmt.Errorf("%s exists; remove it or choose another folder with -o", out)
	}
	work, err := os.MkdirTemp("", "oid-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r, err := prepare(ctx, version, "..", work)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, []target) error{
		r.buildPrograms, r.writeArchives, r.writePackages, r.writeImage, r.writeNPM, r.writeWheels, r.writeBillOfMaterials, r.writeManifests, r.writeChecksums, r.writeBundle,
	} {
		if err := step(ctx, targets); err != nil {
			return err
		}
	}
	return os.CopyFS(out, os.DirFS(r.dir)) // nothing is there until all of it is
}

// prepare returns a release of the commit that is checked out in a repository, with the
// clone and the module proxy that it is built from.
func prepare(ctx context.Context, version, repository, work string) (*release, error) {
	r := &release{version: version, work: work, dir: filepath.Join(work, "dist"), root: filepath.Join(work, "source"), proxy: filepath.Join(work, "proxy")}
	settings, err := output(exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY"))
	if err != nil {
		return nil, err
	}
	cache, proxy, _ := strings.Cut(settings, "\n")
	// The modules of this machine are a proxy, and not the cache: a rehearsal must not leave
	// objectid there.
	r.env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-modcacherw", "GOMODCACHE="+filepath.Join(work, "modules"),
		"GOPROXY=file://"+r.proxy+",file://"+filepath.Join(cache, "cache/download")+","+proxy)
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		return nil, err
	}
	return r, r.checkOut(ctx, repository)
}

// tagged returns the version in the tag of the commit that is checked out in a folder.
func tagged(ctx context.Context, folder string) (string, error) {
	tag, err := git(ctx, folder, "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
	if err != nil {
		return "", errors.New("this commit has no tag such as v0.1.0; write -version 0.1.0")
	}
	return strings.TrimPrefix(tag, "v"), nil
}

// path returns the path of an artifact or of a temporary file.
func (r *release) path(name string) string { return filepath.Join(r.dir, name) }
func (r *release) temp(name string) string { return filepath.Join(r.work, name) }
