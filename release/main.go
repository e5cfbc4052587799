// Command release builds what a release of oid consists of: programs for each system,
// packages for Linux, npm and PyPI, an image for containers, manifests for Homebrew and
// Scoop, a bill of materials, and checksums. The same commit and version give the same bytes.
//
//	cd release && go run . -version 0.1.0 -o ../dist
//
// It needs the Go toolchain and its module proxy, and no other network.
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
	"strconv"
	"strings"
	"time"
)

// release is what all artifacts have in common.
type release struct {
	version string    // without v
	time    time.Time // of the commit; files in archives get it
	dir     string    // where the artifacts go
	work    string    // temporary files
	root    string    // the repository
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
	r := &release{version: version, work: work, dir: filepath.Join(work, "dist")}
	if r.root, err = filepath.Abs(".."); err != nil {
		return err
	}
	if r.time, err = r.commitTime(ctx); err != nil {
		return err
	}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		return err
	}
	for _, step := range []func(context.Context, []target) error{
		r.buildPrograms, r.writeArchives, r.writePackages, r.writeImage, r.writeNPM, r.writeWheels, r.writeBillOfMaterials, r.writeManifests, r.writeChecksums,
	} {
		if err := step(ctx, targets); err != nil {
			return err
		}
	}
	return os.CopyFS(out, os.DirFS(r.dir)) // nothing is there until all of it is
}

// tagged returns the version in the tag of the commit that is checked out in a folder.
func tagged(ctx context.Context, folder string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", folder, "describe", "--tags", "--exact-match", "--match", "v[0-9]*").Output()
	if err != nil {
		return "", errors.New("this commit has no tag such as v0.1.0; write -version 0.1.0")
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), nil
}

// commitTime returns SOURCE_DATE_EPOCH or the time of the commit.
func (r *release) commitTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "-C", r.root, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit: %w; set SOURCE_DATE_EPOCH outside a git checkout", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// path returns the path of an artifact or of a temporary file.
func (r *release) path(name string) string { return filepath.Join(r.dir, name) }
func (r *release) temp(name string) string { return filepath.Join(r.work, name) }
