// Command build writes the static page into a folder that any web server can serve, below any
// path:
//
//	go run ./site/build -o FOLDER [-docs] [-url https://example.org/ids/]
//
// The same tree and the same version of Go give the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/page"
)

func main() {
	b := builder{files: map[string][]byte{}}
	folder := flag.String("o", "", "the folder to write to")
	flag.BoolVar(&b.docs, "docs", false, "write the documents too")
	flag.StringVar(&b.url, "url", "", "the URL of the folder on the web, with a slash at its end, for links that must be absolute")
	flag.Parse()
	if *folder == "" || flag.NArg() > 0 || b.url != "" && !strings.HasSuffix(b.url, "/") {
		flag.Usage()
		os.Exit(2)
	}
	if err := b.build(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// builder makes the files of the folder. They are written once all are made.
type builder struct {
	docs         bool
	url          string            // see the flag
	root, goroot string            // folders of the module and of Go
	files        map[string][]byte // by path in the folder
}

// programs are the WebAssemblies: the file of each, and its package.
var programs = map[string]string{"oid.wasm.gz": "./site", "census.wasm.gz": "./site/census"}

// wasmFlags are the flags of go build for the WebAssemblies. Code that is not inlined takes
// less space.
var wasmFlags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-l"}

func (b *builder) build(folder string) error {
	out, err := exec.Command("go", "env", "GOMOD", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	places := strings.Split(string(out), "\n")
	b.root, b.goroot = filepath.Dir(places[0]), places[1]
	for _, step := range []func() error{b.scripts, b.programs, b.pages, b.worker} {
		if err := step(); err != nil {
			return err
		}
	}
	if b.docs { // no part of the page that works without a network
		if err := documents(b.root, b.files); err != nil {
			return err
		}
	}
	for name, data := range b.files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// scripts takes the files that are published as they are.
func (b *builder) scripts() error {
	paths, err := filepath.Glob(filepath.Join(b.root, "site/static/*"))
	if err != nil {
		return err
	}
	for _, path := range append(paths, filepath.Join(b.goroot, "lib/wasm/wasm_exec.js")) {
		if b.files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	assets := page.Assets()
	for name, a := range assets {
		b.files[name] = a.Data
	}
	delete(b.files, "live.js") // the server's
	b.files["page.js"] = bytes.TrimPrefix(assets["page.js"].Data, assets["clock.js"].Data)
	return nil
}

// programs builds and compresses the WebAssemblies.
func (b *builder) programs() error {
	temp, err := os.MkdirTemp("", "oid-site-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for name, pkg := range programs {
		path := filepath.Join(temp, "program")
		build := exec.Command("go", slices.Concat([]string{"build"}, wasmFlags, []string{"-o", path, pkg})...)
		build.Dir, build.Env = b.root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", build, err, out)
		}
		// The program gzip compresses better than Go's packages do, by one per cent.
		if b.files[name], err = exec.Command("gzip", "-9", "-n", "-c", path).Output(); err != nil {
			return fmt.Errorf("gzip: %w", err)
		}
	}
	return nil
}

// hash returns the hash of a file for the integrity of requests and the
// Content-Security-Policy.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// worker gives the service worker the names and hashes of all files. Some servers unpack a
// file whose name ends with .gz.
func (b *builder) worker() error {
	hashes := map[string]string{}
	for name, data := range b.files {
		hashes[strings.TrimSuffix(name, "index.html")] = hash(data)
		if strings.HasSuffix(name, ".gz") {
			r, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			plain, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			hashes[name] += " " + hash(plain)
		}
	}
	for _, other := range []string{"sw.js", "og.png", "docs.css"} {
		delete(hashes, other)
	}
	table, err := json.MarshalIndent(hashes, "", "  ")
	if err != nil {
		return err
	}
	version := sha256.Sum256(table)
	b.files["sw.js"] = []byte(strings.NewReplacer("FILES;", string(table)+";", "VERSION", hex.EncodeToString(version[:8])).Replace(string(b.files["sw.js"])))
	return nil
}
