package source

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// errJSON is the error for a text that is not a JSON document.
var errJSON = errors.New("not a JSON document")

// errUnfinished is the error for a text that ends before its JSON document does.
var errUnfinished = errors.New("the JSON document does not end")

// errFound is returned by a callback to end the search for a member.
var errFound = errors.New("found")

// isSpace is true for the bytes that may be between tokens. Programs that write text sequences, such as
// jq --seq, and senders of GELF write one of the last two between documents.
var isSpace = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, '\x1e': true, 0: true}

// spaces has the bytes that isSpace is true for.
const spaces = " \t\r\n\x1e\x00"

// beginsSpace is true for the bytes with which white space or a comment begins.
var beginsSpace = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, '\x1e': true, 0: true, '/': true}

// endsWord is true for the bytes that cannot be part of a number, of a name or of true, false
// and null.
var endsWord = [256]bool{
	' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true, ':': true, '{': true, '[': true,
	'"': true, '\'': true, '`': true, '(': true, ')': true, '/': true,
}

// isQuote is true for the quotes around strings in JSON and in the output of mongosh.
var isQuote = [256]bool{'"': true, '\'': true, '`': true}

// skipSpace returns the position of the first byte from i on that is neither white space nor
// part of a comment.
func skipSpace(s []byte, i int) int {
	if i < len(s) && beginsSpace[s[i]] {
		return skipSpaces(s, i)
	}
	return i
}

// skipSpaces is the part of skipSpace that is too long to be inlined.
func skipSpaces(s []byte, i int) int {
	for i < len(s) && beginsSpace[s[i]] {
		if isSpace[s[i]] {
			i++
		} else if end := skipComment(s, i, true); end > i {
			i = end
		} else {
			break
		}
	}
	return i
}

// skipComment returns the position after the comment that starts at i: from /* to */, or from //
// to the end of the line. Clients for MongoDB write comments between documents. If there is no
// comment at i, or if its end is missing, skipComment returns i. If atEnd is true, a comment of
// one line may end with s.
func skipComment(s []byte, i int, atEnd bool) int {
	until := "*/"
	switch {
	case bytes.HasPrefix(s[i:], []byte("//")):
		until = "\n"
	case !bytes.HasPrefix(s[i:], []byte("/*")):
		return i
	}
	if k := bytes.Index(s[i+2:], []byte(until)); k >= 0 {
		return i + 2 + k + len(until)
	} else if until == "\n" && atEnd {
		return len(s)
	}
	return i
}

// skipSlash returns the position after the comment or the regular expression that starts at i.
func skipSlash(s []byte, i int) (int, error) {
	if end := skipComment(s, i, true); end > i {
		return end, nil
	}
	if i+1 == len(s) || s[i+1] == '*' {
		return 0, errUnfinished
	}
	inClass := false
	for k := i + 1; k < len(s) && s[k] != '\n'; k++ {
		switch c := s[k]; {
		case c == '\\':
			k++
		case c == '[', c == ']':
			inClass = c == '['
		case c == '/' && !inClass:
			return skipWord(s, k+1), nil
		}
	}
	return i + 1, nil // a slash alone
}

// skipString returns the position after the string whose first quote is at i.
func skipString(s []byte, i int) (int, error) {
	quote := s[i]
	i++
	for {
		k := bytes.IndexByte(s[i:], quote)
		if k < 0 {
			return 0, errUnfinished
		}
		end := i + k
		slashes := 0
		for slashes < k && s[end-1-slashes] == '\\' {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i, nil
		}
	}
}

// skipValue returns the position after the value that starts at i. It only looks at strings
// and counts brackets, so that deep nesting takes no memory.
func skipValue(s []byte, i int) (int, error) {
	if i >= len(s) {
		return 0, errUnfinished
	}
	switch s[i] {
	case '"', '\'', '`':
		return skipString(s, i)
	case '{', '[':
		return skipNested(s, i)
	case '/':
		return skipSlash(s, i)
	}
	end := skipWord(s, i)
	if end == i {
		return 0, errJSON
	}
	if string(s[i:end]) == "new" {
		if name := skipSpace(s, end); name > end && name < len(s) && !endsWord[s[name]] {
			end = skipWord(s, name)
		}
	}
	if end < len(s) && s[end] == '(' { // a call such as ObjectId(...)
		return skipNested(s, end)
	}
	return end, nil
}

// skipWord returns the position after the number, the constant or the name that starts
// at i.
func skipWord(s []byte, i int) int {
	for i < len(s) && !endsWord[s[i]] {
		i++
	}
	return i
}

// skipNested returns the position after the object, the array or the arguments that
// start at i.
func skipNested(s []byte, i int) (int, error) {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"', '\'', '`':
			end, err := skipString(s, i)
			if err != nil {
				return 0, err
			}
			i = end
			continue
		case '/':
			end, err := skipSlash(s, i)
			if err != nil {
				return 0, err
			}
			i = end
			continue
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, errUnfinished
}

// eachMember calls f with each member of the object or array that starts at i, until f returns
// an error. s[from:to] is the value. key is nil in an array.
func eachMember(s []byte, i int, f func(key []byte, from, to int) error) (err error) {
	isObject, end := s[i] == '{', s[i]+2 // the closing bracket
	if i = skipSpace(s, i+1); i < len(s) && s[i] == end {
		return nil
	}
	for {
		var key []byte
		if isObject {
			if i >= len(s) {
				return errUnfinished
			}
			if key, i, err = keyAt(s, i); err != nil {
				return err
			}
			if i = skipSpace(s, i); i >= len(s) {
				return errUnfinished
			}
			if s[i] != ':' {
				return errJSON
			}
			i = skipSpace(s, i+1)
		}
		to, err := skipValue(s, i)
		if err != nil {
			return err
		}
		if err := f(key, i, to); err != nil {
			return err
		}
		if i = skipSpace(s, to); i >= len(s) {
			return errUnfinished
		}
		switch s[i] {
		case ',':
			if i = skipSpace(s, i+1); isObject && i < len(s) && s[i] == end {
				return nil // mongosh and programs in JavaScript may write a last comma
			}
		case end:
			return nil
		default:
			return errJSON
		}
	}
}

// foundJSON is called with a value s[from:to] at the path that was asked for.
type foundJSON func(s []byte, from, to int)

// findJSON calls found with every value at path in the object that starts at i. Like a query
// of MongoDB, it searches the elements of arrays on the path. It also searches the strings on
// the path that contain JSON. It does not look at the rest of the object after the first member
// of the path.
func findJSON(s []byte, i int, path []string, found foundJSON) error {
	err := eachMember(s, i, func(key []byte, from, to int) error {
		switch path[0] {
		case anyKey:
			found(slices.Concat([]byte{'"'}, key, []byte{'"'}), 0, len(key)+2)
			return nil
		case anyMember:
			return enterJSON(s, from, to, path[1:], found)
		}
		if n := isName(unescape(key), path); n > 0 {
			return cmp.Or(enterJSON(s, from, to, path[n:], found), errFound)
		}
		return nil
	})
	if err == errFound {
		return nil
	}
	return err
}

// keyAt returns the key that starts at i, without quotes, and the position after the key.
func keyAt(s []byte, i int) (key []byte, end int, err error) {
	if isQuote[s[i]] {
		if end, err = skipString(s, i); err != nil {
			return nil, 0, err
		}
		return s[i+1 : end-1], end, nil
	}
	if end = skipWord(s, i); end == i {
		return nil, 0, errJSON
	}
	return s[i:end], end, nil
}

// enterJSON calls found with every value at path in the value s[from:to].
func enterJSON(s []byte, from, to int, path []string, found foundJSON) error {
	if len(path) == 0 {
		found(s, from, to)
		return nil
	}
	switch c := s[from]; {
	case c == '{':
		return findJSON(s[:to], from, path, found)
	case c == '[':
		index, err := strconv.Atoi(path[0])
		named := err != nil && path[0] != anyMember
		n := 0
		return eachMember(s[:to], from, func(_ []byte, i, end int) error {
			n++
			switch {
			case path[0] == anyMember || !named && n-1 == index:
				return enterJSON(s, i, end, path[1:], found)
			case named && s[i] != '[':
				return enterJSON(s, i, end, path, found)
			}
			return nil
		})
	case isQuote[c]:
		return enterText(unescape(s[from+1:to-1]), path, found)
	}
	return nil
}

// enterText calls found with every value at path in a string that contains JSON.
func enterText(text []byte, path []string, found foundJSON) error {
	text = jsonIn(text)
	return enterJSON(text, 0, len(text), path, found)
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
	if n := bytes.Count(name, []byte{'.'}) + 1; n > 1 && n <= len(path) && string(name) == strings.Join(path[:n], ".") {
		return n
	}
	return 0
}
