package unpack

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
)

// InFolder returns the collection of a file in a folder or in a container. within is the path of
// the file in there, and file its path with as many folders as are known, both with slashes. If
// isDump is true, mongodump may have written the file. mongodump shortens long names, but writes
// the full name into a metadata file beside the documents: InFolder reads it with read, unless read
// is nil.
func InFolder(within, file string, isDump bool, read func(file string) ([]byte, error)) string {
	name := ""
	if isDump {
		name = DumpCollection(file)
	}
	if name == "" {
		return Collection(within)
	}
	if read == nil {
		return name
	}
	var metadata struct{ CollectionName string }
	data, err := read(strings.TrimSuffix(Plain(file), ".bson") + ".metadata.json")
	if err == nil && json.Unmarshal(data, &metadata) == nil && metadata.CollectionName != "" {
		database, _, _ := strings.Cut(name, ".")
		return database + "." + metadata.CollectionName
	}
	return name
}

// Catalog is the name of a file in the data folder of a MongoDB server. It is enough to say what
// the folder is.
const Catalog = "_mdb_catalog.wt"

// IsHidden reports whether a part of the path of a file, with slashes, begins with a dot.
func IsHidden(file string) bool {
	return slices.ContainsFunc(strings.Split(file, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// Collection returns the collection of a file with the given name: its path without endings.
func Collection(name string) string {
	name = Plain(strings.ReplaceAll(name, Within, "/"))
	return strings.TrimSuffix(name, path.Ext(name))
}

// DumpCollection returns the collection of a file that mongodump wrote, as
// DATABASE/COLLECTION.bson with some characters escaped as in a URL. It returns "" for other
// files.
func DumpCollection(name string) string {
	folder, base := path.Split(name)
	base, isDump := strings.CutSuffix(Plain(base), ".bson")
	if !isDump {
		return ""
	}
	if unescaped, err := url.PathUnescape(base); err == nil {
		base = unescaped
	}
	if database := path.Base(folder); database != "." && database != "/" {
		base = database + "." + base
	}
	return base
}

// Plain returns the name of a file without the endings of compressions, such as ".gz".
func Plain(name string) string {
	for _, c := range compressions {
		name = strings.TrimSuffix(name, c.ending)
	}
	return name
}

// BesideDump reports whether mongodump writes a file with this name beside its documents.
func BesideDump(name string) bool {
	base := path.Base(Plain(name))
	return base == "prelude.json" || strings.HasSuffix(base, ".metadata.json")
}
