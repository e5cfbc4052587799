package source

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

const (
	// MaxLooked is the most documents or rows of a source in which a census looks for other
	// fields with ids. All of them are in the first batch.
	MaxLooked = 1000

	// maxPlaces is the most fields that are remembered.
	maxPlaces = 200

	// maxMembers is how many members of a document are named in a report.
	maxMembers = 8

	// maxLookDepth is how deep documents are searched for other fields with ids.
	maxLookDepth = 40

	// maxAlike: if more than this many members of an object have ids at the same path, their
	// keys are not the names of fields but data, and the path has anyMember instead.
	maxAlike = 32
)

// Parts of a path that are not names of members.
const (
	anyMember = "*"  // every member of an object, or every element of an array
	anyKey    = "*~" // the keys of the members
)

// Found is what was found at a place, which is a path in the notation of Options.Field.
type Found struct {
	Values int64 // how many ObjectIds and strings of 24 hexadecimal digits
	InText bool  // whether the path passes through a string that contains JSON

	rest string // the path without its first part
}

// places are the fields, or columns of CSV, that have ids.
type places map[string]Found

func (p places) add(path, rest string, more Found) {
	if old, known := p[path]; known || len(p) < maxPlaces {
		p[path] = Found{old.Values + more.Values, old.InText || more.InText, rest}
	}
}

// look adds the places of the ids in a document to b, if it is one of the first documents of
// the source.
func (b *Batch) look(doc []byte) {
	if !b.looks() {
		return
	}
	if b.Looked++; b.Looked == 1 && doc[0] == '{' {
		b.First = membersOf(doc)
	}
	for path, f := range placesIn(doc, 0) {
		if path != "" {
			places(b.Places).add(path, "", f)
		}
	}
}

// lookBSON is look for a document in BSON.
func (b *Batch) lookBSON(doc []byte) {
	if !b.looks() {
		return
	}
	if text, err := bson.MarshalExtJSON(bson.Raw(doc), false, false); err == nil {
		b.look(text)
	}
}

// lookRow is look for a row of CSV.
func (b *Batch) lookRow(names, row []string) {
	if !b.looks() {
		return
	}
	if b.Looked++; b.Looked == 1 {
		b.First = "the columns " + clip([]byte(strings.Join(names, ", ")))
	}
	for i, cell := range row[:min(len(row), len(names))] {
		in := inText([]byte(cell), 0)
		if new(Batch).addPasted(cell, 0) {
			in = anID
		}
		for path, f := range in {
			places(b.Places).add(joined(names[i], path), "", f)
		}
	}
}

// looks reports whether more documents or rows have to be searched for places.
func (b *Batch) looks() bool {
	if !b.first || b.Looked >= MaxLooked {
		return false
	}
	if b.Places == nil {
		b.Places = places{}
	}
	return true
}

// membersOf returns the names and the types of the members of a JSON object, for a report.
func membersOf(doc []byte) string {
	var parts []string
	_ = eachMember(doc, 0, func(key []byte, from, to int) error {
		var value Batch
		value.addJSON(doc, from, to, 0, false)
		for t := range value.Others {
			parts = append(parts, string(unescape(key))+" ("+t+")")
		}
		if len(parts) > maxMembers {
			parts[maxMembers] = "..."
			return errFound
		}
		return nil
	})
	if len(parts) == 0 {
		return "no members"
	}
	return "the members " + clip([]byte(strings.Join(parts, ", ")))
}

// joined returns the path of rest within the value at path.
func joined(path, rest string) string {
	if path == "" || rest == "" {
		return path + rest
	}
	return path + "." + rest
}

// anID is the places in a value that is itself an id.
var anID = places{"": {Values: 1}}

// placesIn returns the places of the ids in a JSON value. An id is what [Batch.addJSON] takes for
// one. The path of an id that is the value itself is empty.
func placesIn(s []byte, depth int) places {
	var value Batch
	if s[0] != '[' {
		value.addJSON(s, 0, len(s), 0, false)
	}
	switch {
	case depth > maxLookDepth:
		return nil
	case len(value.IDs)+len(value.Strings) > 0:
		return anID
	case s[0] == '[' && depth > 0:
		return inElements(s, depth)
	case s[0] == '{', s[0] == '[': // the document is an element of an array
		return inMembers(s, depth)
	case isQuote[s[0]]:
		return inText(unescape(s[1:len(s)-1]), depth)
	}
	return nil
}

// inText returns the places of the ids in a string, which may contain JSON.
func inText(text []byte, depth int) places {
	in := places{}
	for path, f := range placesIn(jsonIn(text), depth+1) {
		if f.InText = true; path != "" { // no path leads to the text itself
			in[path] = f
		}
	}
	return in
}

// noJSON is a value in which there is nothing to find.
var noJSON = []byte("0")

// jsonIn returns the object or array that text is, or noJSON if it is something else.
func jsonIn(text []byte) []byte {
	from := skipSpace(text, 0)
	if from == len(text) || text[from] != '{' && text[from] != '[' {
		return noJSON
	}
	to, err := skipValue(text, from)
	if err != nil || skipSpace(text, to) < len(text) {
		return noJSON
	}
	return text[from:to]
}

// inElements returns the places of the ids in an array. A path needs no part for the
// elements, except where the next part would not be taken for the name of a member.
func inElements(s []byte, depth int) places {
	all := places{}
	_ = eachMember(s, 0, func(_ []byte, from, to int) error {
		if s[from] == '[' {
			for path, f := range inMembers(s[from:to], depth+1) {
				all.add(joined(anyMember, path), "", f)
			}
			return nil
		}
		for path, f := range placesIn(s[from:to], depth+1) {
			if first, _, _ := strings.Cut(path, "."); strings.HasPrefix(first, anyMember) || isIndex(first) {
				path = joined(anyMember, path)
			}
			all.add(path, "", f)
		}
		return nil
	})
	return all
}

// inMembers returns the places of the ids in an object, or in an array whose elements
// have meanings of their own, as in the rows of a table. Keys that differ although their values
// are alike are data: they become anyMember.
func inMembers(s []byte, depth int) places {
	named, all, alike, n := places{}, places{}, map[string]int{}, 0
	// After an error the rest of the value is unknown; what was found before is right.
	_ = eachMember(s, 0, func(key []byte, from, to int) error {
		name := string(unescape(key))
		switch {
		case s[0] == '[':
			name = strconv.Itoa(n)
			n++
		case len(key) == hexDigits && new(objectid.ID).UnmarshalText(key) == nil:
			all.add(anyKey, "", Found{Values: 1})
			name = anyMember
		case name == "" || strings.HasPrefix(name, anyMember):
			return nil // no path leads to it
		}
		for rest, f := range placesIn(s[from:to], depth+1) {
			path := joined(name, rest)
			if _, known := named[path]; !known && len(alike) < maxPlaces {
				alike[rest]++
			}
			if alike[rest] > maxAlike {
				all.add(joined(anyMember, rest), "", f)
			} else {
				named.add(path, rest, f)
			}
		}
		return nil
	})
	for path, f := range named {
		if alike[f.rest] > maxAlike {
			path = joined(anyMember, f.rest)
		}
		all.add(path, "", f)
	}
	return all
}

// isIndex reports whether a part of a path is the index of an element.
func isIndex(part string) bool {
	_, err := strconv.Atoi(part)
	return err == nil
}
