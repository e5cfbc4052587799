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
)

// dumpEndings are those of the files of mongodump with documents, also compressed
// afterwards.
var dumpEndings = []string{".bson", ".bson.gz", ".bson.zst"}

// folderParts returns the collections in a folder of mongodump, with their databases:
// its files are DATABASE/COLLECTION.bson. The folder may also be that of one database.
func folderParts(folder string) ([]part, error) {
	var parts []part
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		for _, ending := range dumpEndings {
			base, ok := strings.CutSuffix(entry.Name(), ending)
			if !ok {
				continue
			}
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			parts = append(parts, part{
				name: path, collection: databaseOf(path) + collectionOf(path, base), size: info.Size(), documents: -1,
				open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) },
			})
			break
		}
		return nil
	})
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("the folder %s has no .bson files of mongodump; name the files in it", folder)
	}
	return parts, err
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
