package source

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/oidkit/oid/internal/bsonwalk"
)

// value is a value in BSON or in JSON.
type value struct {
	typ    byte // as BSON has it; of JSON only the types below, else typeWord
	isJSON bool
	data   []byte
}

const (
	typeWord   = 0x00 // a number, a constant or a call in JSON
	typeString = 0x02
	typeObject = 0x03
	typeArray  = 0x04

	typeObjectID = 0x07
	typeBool     = 0x08
	typeNull     = 0x0A
	typeLong     = 0x12
)

// jsonValue returns the value with this text. Only after an object, the text may go on.
func jsonValue(text []byte) value {
	v := value{isJSON: true, data: text}
	switch text[0] {
	case '{':
		v.typ = typeObject
	case '[':
		v.typ = typeArray
	case '"', '\'', '`':
		v.typ = typeString
	}
	return v
}

// text returns the text of a string.
func (v value) text() []byte {
	if v.isJSON {
		return unescape(v.data[1 : len(v.data)-1])
	}
	return v.data[4 : len(v.data)-1]
}

// each calls f with each member of an object or each element of an array, until f returns an error.
// In an array of JSON the names are nil.
func (v value) each(f func(name []byte, member value) error) error {
	if v.isJSON {
		return eachMember(v.data, f)
	}
	err := bsonwalk.Check(v.data)
	for start, from, end := bsonwalk.First, 0, 0; err == nil && start < len(v.data)-1; start = end {
		if from, end, err = bsonwalk.Element(v.data, start); err == nil {
			err = f(v.data[start+1:from-1], value{typ: v.data[start], data: v.data[from:end]})
		}
	}
	return err
}

// Parts of a path that are not names of members.
const (
	anyMember = "*"  // every member of an object, or every element of an array
	anyKey    = "*~" // the keys of the members

	// InOtherText ends a path to text that is neither an id nor JSON, but has ids. Options.Field
	// does not read it.
	InOtherText = ".*text"
)

// errFound is returned by a callback to end the search for a member.
var errFound = errors.New("found")

// find calls found with every value at path in v. Like a query of MongoDB, it searches the
// elements of arrays on the path. It also searches the strings on the path that contain JSON. It
// does not look at the rest of an object after the first member of the path.
func (v value) find(path []string, found func(value)) error {
	if len(path) == 0 {
		found(v)
		return nil
	}
	switch v.typ {
	case typeString:
		if inner, ok := jsonIn(v.text()); ok {
			_ = inner.find(path, found) // text that is not JSON has no member at this path
		}
	case typeArray:
		index, err := strconv.Atoi(path[0])
		isNamed, n := err != nil, -1
		return v.each(func(_ []byte, element value) error {
			n++
			switch {
			case path[0] == anyMember || !isNamed && n == index:
				return element.find(path[1:], found)
			case isNamed && element.typ != typeArray:
				return element.find(path, found)
			}
			return nil
		})
	case typeObject:
		err := v.each(func(name []byte, member value) error {
			switch path[0] {
			case anyKey:
				found(jsonValue(strconv.AppendQuote(nil, string(name))))
				return nil
			case anyMember:
				return member.find(path[1:], found)
			}
			if n := isName(name, path); n > 0 {
				return cmp.Or(member.find(path[n:], found), errFound)
			}
			return nil
		})
		if err != errFound {
			return err
		}
	}
	return nil
}

// isName returns how many parts at the beginning of path are name: several if name has dots, and
// 0 if path does not begin with name.
func isName(name []byte, path []string) int {
	if string(name) == path[0] { // does not allocate
		return 1
	}
	if len(path) == 1 {
		return 0
	}
	if n := bytes.Count(name, []byte{'.'}) + 1; n <= len(path) && string(name) == strings.Join(path[:n], ".") {
		return n
	}
	return 0
}

// jsonIn returns the object or array that text is, if it is one.
func jsonIn(text []byte) (v value, ok bool) {
	from := skipSpace(text, 0)
	if from == len(text) || text[from] != '{' && text[from] != '[' {
		return v, false
	}
	to, err := skipValue(text, from)
	if err != nil || skipSpace(text, to) < len(text) {
		return v, false
	}
	return jsonValue(text[from:to]), true
}
