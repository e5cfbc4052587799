package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/cmd/oid/internal/table"
	"github.com/oidkit/oid/internal/unpack"
)

// censusReader reads the sources of oid census.
type censusReader struct {
	std       streams
	where     *storeFlag
	options   *census.Options
	quiet     bool
	progress  *progress
	databases []io.Closer // open until readAll returns
}

// readAll reads every source into c. It returns errors of wrong use and the cause of ctx.
// The report of c has the errors of unreadable sources.
func (r *censusReader) readAll(ctx context.Context, c *census.Census, sources []string) error {
	defer func() {
		for _, d := range r.databases {
			_ = d.Close() // it was only read
		}
		r.databases = nil
	}()
	var parts []part
	for _, arg := range sources {
		more, err := r.parts(ctx, arg)
		if _, isUsage := errors.AsType[usageError](err); isUsage {
			return err
		}
		if err != nil {
			more = []part{{name: nameOf(arg), size: -1, documents: -1, open: func(context.Context) (io.ReadCloser, error) { return nil, err }}}
		}
		parts = append(parts, more...)
	}
	total, isBytes := totalSize(parts)
	r.progress = newBar(r.std, r.quiet, total, isBytes)
	defer r.progress.finish()
	for _, p := range parts {
		if err := r.readPart(ctx, c, p); err != nil {
			return err
		}
	}
	return nil
}

func (r *censusReader) readPart(ctx context.Context, c *census.Census, p part) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	in, err := p.open(ctx)
	if err != nil {
		in = piped(func(io.Writer) error { return err })
	}
	// The error is in the report.
	if p.live != nil {
		_ = c.ReadLive(ctx, *p.live, r.progress.reader(in))
	} else {
		_ = c.ReadCollection(ctx, p.name, p.collection, r.progress.reader(in))
	}
	if ctx.Err() != nil {
		// Do not wait: closing may wait for a server, and the process ends soon.
		go in.Close()
		return context.Cause(ctx)
	}
	return in.Close()
}

// parts returns the parts of a source: one, or one for each collection or file.
func (r *censusReader) parts(ctx context.Context, arg string) ([]part, error) {
	p := part{name: nameOf(arg), size: -1, documents: -1}
	one := func(open func(context.Context) (io.ReadCloser, error)) ([]part, error) {
		p.open = open
		return []part{p}, nil
	}
	switch e := storeEngineOf(arg); {
	case arg == "-":
		return one(func(ctx context.Context) (io.ReadCloser, error) {
			return io.NopCloser(r.std.stdin(ctx, "the source")), nil
		})
	case strings.HasPrefix(arg, "store:"):
		return r.storeParts(ctx, r.where, p, "", strings.TrimPrefix(arg, "store:"))
	case e != nil && e.whole:
		base, database, collection, err := splitNamespace(arg)
		if err != nil {
			return nil, err
		}
		return r.storeParts(ctx, &storeFlag{url: base}, p, database, collection)
	case table.IsURL(arg):
		url, name := splitTable(arg)
		return r.databaseParts(ctx, p, url, name)
	}
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, `/\.:`) {
		return nil, fmt.Errorf("%w; for a collection of the store write store:%s", err, arg)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return folderParts(arg, r.options.Format)
	}
	if info.Mode().IsRegular() {
		if isSQLite(arg) {
			return r.databaseParts(ctx, p, "sqlite:"+arg, "")
		}
		p.size = info.Size()
		return one(func(context.Context) (io.ReadCloser, error) { return os.Open(arg) })
	}
	// This may be a FIFO: opening waits for a writer, and reading for its output.
	return one(func(ctx context.Context) (io.ReadCloser, error) {
		return interruptible(ctx, piped(func(w io.Writer) error {
			f, err := os.Open(arg)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return err
		})), nil
	})
}

// piped runs write in a goroutine and returns its output.
func piped(write func(io.Writer) error) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(w, 1<<18)
		err := write(buffered)
		w.CloseWithError(cmp.Or(err, buffered.Flush())) // what came before an error counts
	}()
	return r
}

// live returns an opener of documents, for each of which write calls Write once.
func (r *censusReader) live(write func(context.Context, io.Writer) error) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) {
		return piped(func(w io.Writer) error { return write(ctx, &counting{Writer: w, progress: r.progress}) }), nil
	}
}

// counting shows the progress of documents.
type counting struct {
	io.Writer
	*progress
	n int64
}

// countedTogether is how many documents are written between two updates of the progress.
const countedTogether = 1000

func (c *counting) Write(doc []byte) (int, error) {
	if c.n++; c.n%countedTogether == 0 {
		c.count(countedTogether)
	}
	return c.Writer.Write(doc)
}

// totalSize returns how much there is to read: in documents if all parts have an estimate of
// their number, else in bytes. It returns -1 if neither is known.
func totalSize(parts []part) (total int64, isBytes bool) {
	var size, documents int64
	for _, p := range parts {
		size, documents = size+p.size, documents+p.documents
	}
	switch {
	case !slices.ContainsFunc(parts, func(p part) bool { return p.documents < 0 }):
		return documents, false
	case !slices.ContainsFunc(parts, func(p part) bool { return p.size < 0 }):
		return size, true
	}
	return -1, true
}

// folderParts returns the files to read in a folder and its subfolders.
//
// Every file is a collection, which is named after the path of the file within the folder,
// without the ending. With Grep all files belong to one collection without a name. If format is
// Auto or BSON, mongodump wrote the .bson files, as DATABASE/COLLECTION.bson, and what it writes
// beside them is skipped. Files and folders whose names begin with a dot are skipped. Links to folders
// are followed, but each folder is read once.
func folderParts(folder string, format census.Format) ([]part, error) {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	var files []part
	seen := map[string]bool{} // folders, by their real paths
	isDump := format == census.FormatAuto || format == census.FormatBSON
	var read fs.WalkDirFunc
	read = func(path string, entry fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(entry.Name(), ".") && !strings.HasSuffix(path, "/"); {
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir():
			real, err := filepath.EvalSymlinks(path)
			within, _ := filepath.Rel(folder, path) // path is always in folder
			if isLinked := isWithin(root, real) && real != filepath.Join(root, within); err != nil || isLinked || seen[real] {
				return cmp.Or(err, fs.SkipDir) // a linked folder within root is read without the link
			}
			seen[real] = true
			// This is the data folder of a MongoDB server.
			catalog := filepath.Join(path, unpack.Catalog)
			if _, err := os.Stat(catalog); err == nil {
				files = append(files, part{name: filepath.Clean(path), size: -1, documents: -1, open: func(context.Context) (io.ReadCloser, error) { return os.Open(catalog) }})
				return fs.SkipDir
			}
			return nil
		case hidden, isDump && unpack.BesideDump(path):
			return nil
		}
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			return filepath.WalkDir(path+"/", read) // with a slash, it reads where the link leads
		case err != nil || !info.Mode().IsRegular():
			return err
		}
		p := part{
			name: path, size: info.Size(), documents: -1,
			open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) },
		}
		if format != census.FormatGrep {
			within, _ := filepath.Rel(folder, path) // path is always in folder
			file := path                            // absolute, it has the database of a dump in the current folder
			if absolute, err := filepath.Abs(path); err == nil {
				file = absolute
			}
			p.collection = unpack.InFolder(filepath.ToSlash(within), filepath.ToSlash(file), isDump, os.ReadFile)
		}
		files = append(files, p)
		return nil
	}
	err = filepath.WalkDir(folder+"/", read)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("the folder %s has no files to read", folder)
	}
	return files, err
}

// isWithin reports whether path is folder or in it.
func isWithin(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// part is one file or one collection to read. A folder and a database have several.
type part struct {
	name       string       // of the source, for the report
	collection string       // or empty, see [census.Census.ReadCollection]
	size       int64        // in bytes, or -1 if unknown
	documents  int64        // their number as the server estimates it, or -1 if unknown
	live       *census.Live // if it comes from a database
	open       func(ctx context.Context) (io.ReadCloser, error)
}
