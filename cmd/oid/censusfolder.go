package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/oidkit/oid/census/source"
)

// dumpEndings are those of the files of mongodump with documents, also compressed
// afterwards.
var dumpEndings = []string{".bson", ".bson.gz", ".bson.zst"}

// folderParts returns what there is to read in a folder and in those in it.
//
// If it has .bson files it is a folder of mongodump, with files DATABASE/COLLECTION.bson,
// or that of one database, and all other files are left out. Of any other folder, and if
// format is not BSON but says how the files are written, every file is a collection, which
// is called by the file's path in the folder, without its ending. With Grep all are one
// text. Files and folders that begin with a dot are left out.
func folderParts(folder string, format source.Format) ([]part, error) {
	var dump, files []part
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(entry.Name(), ".") && path != folder; {
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden, entry.IsDir():
			return nil
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		p := part{
			name: path, size: info.Size(), documents: -1,
			open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) },
		}
		if format != source.Grep {
			within, _ := filepath.Rel(folder, path) // it is in it
			for _, ending := range []string{".gz", ".zst", filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(within, ".gz"), ".zst"))} {
				within = strings.TrimSuffix(within, ending)
			}
			p.collection = filepath.ToSlash(within)
		}
		files = append(files, p)
		for _, ending := range dumpEndings {
			if base, ok := strings.CutSuffix(entry.Name(), ending); ok {
				p.collection = databaseOf(path) + collectionOf(path, base)
				dump = append(dump, p)
			}
		}
		return nil
	})
	if isDump := format == source.Auto || format == source.BSON; isDump && len(dump) > 0 {
		files = dump
	}
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("the folder %s has no files", folder)
	}
	return files, err
}

// databaseOf returns the database of a file, which is the name of its folder, with a dot.
func databaseOf(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	if database := filepath.Base(filepath.Dir(absolute)); database != string(filepath.Separator) {
		return database + "."
	}
	return ""
}

// collectionOf returns the collection of a file called base. mongodump escapes some
// characters of the name as in a URL, and a long name is only in the metadata.
func collectionOf(path, base string) string {
	var metadata struct{ CollectionName string }
	data, err := os.ReadFile(filepath.Join(filepath.Dir(path), base+".metadata.json"))
	if err == nil && json.Unmarshal(data, &metadata) == nil && metadata.CollectionName != "" {
		return metadata.CollectionName
	}
	if name, err := url.PathUnescape(base); err == nil {
		return name
	}
	return base
}

// part is what is read as one: a file, a collection, or one of those in a folder or a
// database.
type part struct {
	name       string // of its source, for people
	collection string // or empty, see [census.Census.ReadCollection]
	size       int64  // bytes to read, or -1
	documents  int64  // to read, as the server estimates, or -1
	open       func(ctx context.Context) (io.ReadCloser, error)
}
