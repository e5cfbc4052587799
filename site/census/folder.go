// This program takes a census in a Worker of the static page. The page gives it files; it
// answers with the report. Nothing of a file leaves the browser.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/unpack"
)

// file is a file or a folder that the page was given. A file in a folder has the path
// FOLDER/.../NAME. The path of a folder ends in a slash, and its open is nil.
type file struct {
	path string
	open func() io.Reader
}

// part is what a census reads as one source. Reading a part that has an error returns it.
type part struct {
	name, collection string
	in               io.Reader
}

// failing is a reader that only returns an error.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// parts returns the parts that "oid census" reads if a shell gives it the files and the folders,
// in the order of the command. isText says that all files are one text.
func parts(files []file, isText bool) (out []part) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return slices.Compare(strings.Split(a.path, "/"), strings.Split(b.path, "/")) })
	known, isRead := map[string]file{}, map[string]bool{} // files by their paths; folders that were given
	for _, f := range files {
		known[f.path] = f
	}
	read := func(name string) ([]byte, error) {
		if f := known[name]; f.open != nil {
			return io.ReadAll(f.open())
		}
		return nil, fs.ErrNotExist
	}
	// catalog returns that of the server in whose data folder a file is, or an empty path.
	catalog := func(file string) string {
		for i, c := range file {
			if f := known[file[:i]+"/"+unpack.Catalog]; c == '/' && f.open != nil {
				return f.path
			}
		}
		return ""
	}
	for _, f := range files {
		root, within, isIn := strings.Cut(f.path, "/")
		p, server := part{name: f.path}, catalog(f.path)
		switch {
		case !isIn:
		case f.open == nil, unpack.IsHidden(within), server == "" && !isText && unpack.BesideDump(within), server != "" && server != f.path:
			continue
		case server != "":
			p.name = strings.TrimSuffix(server, "/"+unpack.Catalog)
		case !isText:
			p.collection = unpack.InFolder(within, f.path, true, read)
		}
		p.in, isRead[root] = f.open(), true
		out = append(out, p)
	}
	for _, f := range files {
		if root, _, isIn := strings.Cut(f.path, "/"); isIn && !isRead[root] {
			isRead[root] = true
			out = append(out, part{name: root, in: failing{fmt.Errorf("the folder %s has no files to read", root)}})
		}
	}
	return out
}
