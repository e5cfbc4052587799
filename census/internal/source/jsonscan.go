package source

import (
	"bytes"
	"errors"
)

// errJSON is the error for a text that is not a JSON document.
var errJSON = errors.New("not a JSON document")

// errUnfinished is the error for a text that ends before its JSON document does.
var errUnfinished = errors.New("the JSON document does not end")

// spaces are the bytes that may be between tokens. Programs that write text sequences, such as
// jq --seq, and senders of GELF write one of the last two between documents.
const spaces = " \t\r\n\x1e\x00"

// beginsSpace is true for the bytes with which white space or a comment begins.
var beginsSpace = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, '\x1e': true, 0: true, '/': true}

// endsWord is true for the bytes that cannot be part of a number, of a name or of true, false
// and null.
var endsWord = [256]bool{
	' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true, ':': true, '{': true, '[': true,
	'"': true, '\'': true, '`': true, '(': true, ')': true, '/': true,
}

// structural is true for the bytes that matter to the end of an object, an array or a call.
var structural = [256]bool{
	'{': true, '[': true, '(': true, '}': true, ']': true, ')': true, '"': true, '\'': true, '`': true, '/': true,
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
		if s[i] != '/' {
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
	for depth := 0; i < len(s); {
		c := s[i]
		if !structural[c] {
			i++
			continue
		}
		var err error
		switch c {
		case '"', '\'', '`':
			i, err = skipString(s, i)
		case '/':
			i, err = skipSlash(s, i)
		case '{', '[', '(':
			depth++
			i++
		default:
			depth--
			i++
		}
		if err != nil || depth == 0 {
			return i, err
		}
	}
	return 0, errUnfinished
}

// eachMember calls f with each member of the object or array with which s begins, until f returns
// an error. name is nil in an array.
func eachMember(s []byte, f func(name []byte, member value) error) (err error) {
	isObject, end := s[0] == '{', s[0]+2 // the closing bracket
	i := skipSpace(s, 1)
	if i < len(s) && s[i] == end {
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
		if err := f(unescape(key), jsonValue(s[i:to])); err != nil {
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
