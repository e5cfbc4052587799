package unpack

import (
	"net/url"
	"path"
	"strings"
)

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
