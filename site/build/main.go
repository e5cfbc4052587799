// Command build writes the static page into a folder that any web server can serve, below any
// path:
//
//	go run ./site/build -o FOLDER [-docs] [-url https://example.org/ids/]
//
// The same tree and the same version of Go give the same bytes.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/page"
)

func main() {
	folder := flag.String("o", "", "the folder to write to")
	docs := flag.Bool("docs", false, "write the documents too")
	url := flag.String("url", "", "the URL of the folder on the web, for links that must be absolute")
	if flag.Parse(); *folder == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	files, err := build(*docs, *url)
	for name, data := range files {
		path := filepath.Join(*folder, filepath.FromSlash(name))
		err = cmp.Or(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// programs are the WebAssemblies: the file of each, and its package.
var programs = map[string]string{"oid.wasm.gz": "github.com/oidkit/oid/site", "census.wasm.gz": "github.com/oidkit/oid/site/census"}

// wasmFlags are the flags of go build for the WebAssemblies. Code that is not inlined takes a
// tenth less space. The packages that read files are inlined: a census of a .gz takes a quarter
// less time.
var wasmFlags = []string{
	"-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=all=-l",
	"-gcflags=github.com/klauspost/compress/...=", "-gcflags=github.com/oidkit/oid/census/...=",
}

// builder makes the files of the folder.
type builder struct {
	docs  bool
	url   string            // of the folder, with a slash at its end, or empty
	files map[string][]byte // by path in the folder
	err   error             // the first one
}

// ok returns data, and keeps the error.
func (b *builder) ok(data []byte, err error) []byte {
	b.err = cmp.Or(b.err, err)
	return data
}

// run returns what a program writes, which builds for WebAssembly if it is Go.
func (b *builder) run(name string, args ...string) []byte {
	c := exec.Command(name, args...)
	c.Env, c.Stderr = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"), os.Stderr // Go writes these into the program
	return b.ok(c.Output())
}

// build returns the files of the folder by their paths.
func build(docs bool, url string) (map[string][]byte, error) {
	b := &builder{docs: docs, files: map[string][]byte{}}
	if url != "" {
		if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
			return nil, fmt.Errorf("-url %q: want a URL such as https://example.org/ids/", url)
		}
		b.url = strings.TrimRight(url, "/") + "/"
	}
	places := strings.Split(string(b.run("go", "env", "GOMOD", "GOROOT"))+"\n", "\n")
	root := filepath.Dir(places[0])
	scripts, _ := filepath.Glob(filepath.Join(root, "site/static/*"))
	for _, path := range append(scripts, filepath.Join(places[1], "lib/wasm/wasm_exec.js")) {
		b.files[filepath.Base(path)] = b.ok(os.ReadFile(path))
	}
	for name, a := range page.Assets() {
		b.files[name] = a.Data
	}
	b.files["page.js"] = bytes.TrimPrefix(b.files["page.js"], b.files["clock.js"])
	delete(b.files, "live.js") // the server's
	temp, err := os.MkdirTemp("", "oid-site-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	unpacked := map[string]string{} // some servers unpack a file whose name ends with .gz
	for name, pkg := range programs {
		path := filepath.Join(temp, "program")
		b.run("go", slices.Concat([]string{"build", "-o", path}, wasmFlags, []string{pkg})...)
		unpacked[name] = " " + hash(b.ok(os.ReadFile(path)))
		b.files[name] = b.run("gzip", "-9", "-n", "-c", path) // compresses better than Go's packages do, by one per cent
	}
	b.pages()
	b.worker(unpacked)
	if docs { // they do not work without a network
		b.ok(nil, documents(root, b.files))
	}
	if b.err != nil {
		return nil, b.err // so that no part of a page is published
	}
	return b.files, nil
}

// hash returns the hash of a file for the integrity of requests and the
// Content-Security-Policy.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// worker gives the service worker the names and hashes of all files. more has further hashes
// that a file may have.
func (b *builder) worker(more map[string]string) {
	hashes := map[string]string{}
	for name, data := range b.files {
		if !slices.Contains([]string{"sw.js", "og.png", "docs.css"}, name) {
			hashes[strings.TrimSuffix(name, "index.html")] = hash(data) + more[name]
		}
	}
	table := string(b.ok(json.MarshalIndent(hashes, "", "  ")))
	b.files["sw.js"] = []byte(strings.NewReplacer("FILES;", table+";", "VERSION", hash([]byte(table))).Replace(string(b.files["sw.js"])))
}
