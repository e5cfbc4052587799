package page

import (
	"encoding/base64"
	"slices"

	"github.com/oidkit/oid/objectid"
)

// notation is a way to write an id, to paste it.
type notation struct {
	Name, About string
	write       func(objectid.ID) string
}

// notations are all ways. The first is the default.
var notations = []notation{
	{"hex", "24 hexadecimal digits", objectid.ID.String},
	{"mongosh", "MongoDB shell, Compass, Python", between(`ObjectId("`, `")`)},
	{"json", "Extended JSON", between(`{"$oid":"`, `"}`)},
	{"node", "Node and Java", between(`new ObjectId("`, `")`)},
	{"go", "package objectid", between(`objectid.MustParse("`, `")`)},
	{"sql", "binary column of SQLite and MySQL", between("X'", "'")},
	{"postgres", "BYTEA column of PostgreSQL", between(`'\x`, "'")},
	{"base64", "the twelve bytes", func(id objectid.ID) string { return base64.StdEncoding.EncodeToString(id[:]) }},
}

func between(before, after string) func(objectid.ID) string {
	return func(id objectid.ID) string { return before + id.String() + after }
}

// notationOf returns the notation with a name. An empty or unknown name means the first.
func notationOf(name string) notation {
	i := slices.IndexFunc(notations, func(n notation) bool { return n.Name == name })
	return notations[max(i, 0)]
}

// HasNotation reports whether ids can be written in a format. The empty one is the default.
func HasNotation(format string) bool { return format == "" || notationOf(format).Name == format }
