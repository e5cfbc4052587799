package source

import (
	"strconv"
	"strings"

	"github.com/oidkit/oid/inspect"
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
func (b *Batch) look(doc value) {
	if !b.looks() {
		return
	}
	if b.Looked++; b.Looked == 1 && doc.typ == typeObject {
		b.First = membersOf(doc)
	}
	for path, f := range b.probe.placesIn(doc, 0) {
		if path != "" {
			places(b.Places).add(path, "", f)
		}
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
		in := anID
		if !b.probe.addPasted(cell, 0) {
			in = b.probe.inText([]byte(cell), 0)
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
	if b.probe == nil {
		b.Places, b.probe = places{}, new(Batch)
	}
	return true
}

// membersOf returns the names and the types of the members of an object, for a report.
func membersOf(doc value) string {
	var parts []string
	_ = doc.each(func(name []byte, member value) error {
		var one Batch
		one.add(member, 0, false)
		for t := range one.Others {
			parts = append(parts, string(name)+" ("+t+")")
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

// placesIn returns the places of the ids in a value. An id is what [Batch.add] takes for one. The
// path of an id that is the value itself is empty. b has nothing but what was found before.
func (b *Batch) placesIn(v value, depth int) places {
	b.IDs, b.Strings = b.IDs[:0], b.Strings[:0]
	switch {
	case depth > maxLookDepth:
		return nil
	case v.typ == typeArray && depth > 0:
		return b.inElements(v, depth)
	case v.typ == typeArray: // the document is an element of an array
		return b.inMembers(v, depth)
	}
	switch b.add(v, 0, false); {
	case b.ids() > 0:
		return anID
	case v.typ == typeObject:
		return b.inMembers(v, depth)
	case v.typ == typeString:
		return b.inText(v.text(), depth)
	}
	return nil
}

// inOtherText returns the place of the ids among the words of text.
func inOtherText(text string) places {
	if ids := len(inspect.AppendObjectIDs(nil, text)); ids > 0 {
		return places{InOtherText[1:]: {Values: int64(ids)}}
	}
	return nil
}

// inText returns the places of the ids in a string, which may contain JSON.
func (b *Batch) inText(text []byte, depth int) places {
	v, ok := jsonIn(text)
	if !ok {
		return inOtherText(string(text))
	}
	in := places{}
	for path, f := range b.placesIn(v, depth+1) {
		if f.InText = true; path != "" { // no path leads to the text itself
			in[path] = f
		}
	}
	return in
}

// inElements returns the places of the ids in an array. A path needs no part for the
// elements, except where the next part would not be taken for the name of a member.
func (b *Batch) inElements(v value, depth int) places {
	all := places{}
	_ = v.each(func(_ []byte, element value) error {
		isArray := element.typ == typeArray
		in := b.inMembers
		if !isArray {
			in = b.placesIn
		}
		for path, f := range in(element, depth+1) {
			if first, _, _ := strings.Cut(path, "."); isArray || strings.HasPrefix(first, anyMember) || isIndex(first) {
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
func (b *Batch) inMembers(v value, depth int) places {
	named, all, alike, n := places{}, places{}, map[string]int{}, 0
	// After an error the rest of the value is unknown; what was found before is right.
	_ = v.each(func(key []byte, member value) error {
		name := string(key)
		switch {
		case v.typ == typeArray:
			name = strconv.Itoa(n)
			n++
		case len(key) == hexDigits && new(objectid.ID).UnmarshalText(key) == nil:
			all.add(anyKey, "", Found{Values: 1})
			name = anyMember
		case name == "" || strings.HasPrefix(name, anyMember):
			return nil // no path leads to it
		}
		for rest, f := range b.placesIn(member, depth+1) {
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
