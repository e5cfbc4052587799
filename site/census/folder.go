// This program takes a census in a Worker of the static page. The page gives it files; it
// answers with the report. Nothing of a file leaves the browser.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"path"
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
	known := map[string]file{}
	var servers, folders []string // data folders of MongoDB servers, and those that were given
	for _, f := range files {
		known[f.path] = f
		if folder, name := path.Split(f.path); name == unpack.Catalog && folder != "" {
			servers = append(servers, folder)
		}
		if root, _, isIn := strings.Cut(f.path, "/"); isIn && !slices.Contains(folders, root) {
			folders = append(folders, root)
		}
	}
	read := func(name string) ([]byte, error) {
		if f := known[name]; f.open != nil {
			return io.ReadAll(f.open())
		}
		return nil, fs.ErrNotExist
	}
	for _, f := range files {
		_, within, isIn := strings.Cut(f.path, "/")
		server := slices.IndexFunc(servers, func(folder string) bool { return strings.HasPrefix(f.path, folder) })
		p := part{name: f.path}
		switch {
		case !isIn:
		case f.open == nil, unpack.IsHidden(within), server < 0 && !isText && unpack.BesideDump(within):
			continue
		case server >= 0:
			if p.name = path.Dir(f.path); f.path != servers[server]+unpack.Catalog {
				continue
			}
		case !isText:
			p.collection = unpack.InFolder(within, f.path, true, read)
		}
		p.in = f.open()
		out = append(out, p)
	}
	for _, folder := range folders {
		if !slices.ContainsFunc(out, func(p part) bool { return strings.HasPrefix(p.name+"/", folder+"/") }) {
			out = append(out, part{name: folder, in: failing{fmt.Errorf("the folder %s has no files to read", folder)}})
		}
	}
	return out
}
