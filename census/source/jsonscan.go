package source

import (
	"bytes"
	"errors"
	"strconv"
)

// errJSON is the error for a text that is not a JSON document.
var errJSON = errors.New("not a JSON document")

// errUnfinished is the error for a text that ends before its JSON document does.
var errUnfinished = errors.New("the JSON document does not end")

// isSpace contains the bytes that may be between tokens.
var isSpace = [256]bool{' ': true, '\t': true, '\r': true, '\n': true}

// endsWord contains the bytes that cannot be part of a number, true, false or null.
var endsWord = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true, ':': true, '"': true, '{': true, '[': true}

// skipSpace returns the position of the first token at i or after it.
func skipSpace(s []byte, i int) int {
	for i < len(s) && isSpace[s[i]] {
		i++
	}
	return i
}

// skipString returns the position after the string whose first quote is at i.
func skipString(s []byte, i int) (int, error) {
	i++
	for {
		k := bytes.IndexByte(s[i:], '"')
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

// skipValue returns the position after the value that starts at i. It looks at
// strings and brackets alone, so that nesting of any depth takes no memory.
func skipValue(s []byte, i int) (int, error) {
	if i >= len(s) {
		return 0, errUnfinished
	}
	switch s[i] {
	case '"':
		return skipString(s, i)
	case '{', '[':
		return skipNested(s, i)
	}
	start := i
	if bytes.HasPrefix(s[i:], []byte("ObjectId(")) {
		end := bytes.IndexByte(s[i:], ')')
		if end < 0 {
			return 0, errUnfinished
		}
		return i + end + 1, nil
	}
	for i < len(s) && !endsWord[s[i]] {
		i++
	}
	if i == start {
		return 0, errJSON
	}
	return i, nil
}

// skipNested returns the position after the object or array that starts at i.
func skipNested(s []byte, i int) (int, error) {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			end, err := skipString(s, i)
			if err != nil {
				return 0, err
			}
			i = end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, errUnfinished
}

// findJSON calls found with every value that path names in the object that starts at
// i. Arrays on the path are searched, as in a query of MongoDB. It skips the rest of
// the object after the member that path names.
func findJSON(s []byte, i int, path []string, found func(from, to int)) error {
	if i >= len(s) || s[i] != '{' {
		return errJSON
	}
	i = skipSpace(s, i+1)
	if i < len(s) && s[i] == '}' {
		return nil
	}
	for {
		if i >= len(s) {
			return errUnfinished
		}
		if s[i] != '"' {
			return errJSON
		}
		end, err := skipString(s, i)
		if err != nil {
			return err
		}
		key := s[i+1 : end-1]
		i = skipSpace(s, end)
		if i >= len(s) {
			return errUnfinished
		}
		if s[i] != ':' {
			return errJSON
		}
		i = skipSpace(s, i+1)
		end, err = skipValue(s, i)
		if err != nil {
			return err
		}
		if isKey(key, path[0]) {
			return enterJSON(s, i, end, path[1:], found)
		}
		i = skipSpace(s, end)
		if i >= len(s) {
			return errUnfinished
		}
		switch s[i] {
		case ',':
			i = skipSpace(s, i+1)
		case '}':
			return nil
		default:
			return errJSON
		}
	}
}

// enterJSON calls found with every value that path names in the value from from to to.
func enterJSON(s []byte, from, to int, path []string, found func(from, to int)) error {
	if len(path) == 0 {
		found(from, to)
		return nil
	}
	switch s[from] {
	case '{':
		return findJSON(s[:to], from, path, found)
	case '[':
		index, err := strconv.Atoi(path[0])
		isIndex := err == nil
		n := 0
		return eachJSON(s[:to], from, func(i, end int) error {
			n++
			switch {
			case isIndex && n-1 == index:
				return enterJSON(s, i, end, path[1:], found)
			case !isIndex && s[i] == '{':
				return findJSON(s[:end], i, path, found)
			}
			return nil
		})
	}
	return nil
}

// eachJSON calls f with every element of the array that starts at i.
func eachJSON(s []byte, i int, f func(from, to int) error) error {
	i = skipSpace(s, i+1)
	if i < len(s) && s[i] == ']' {
		return nil
	}
	for {
		end, err := skipValue(s, i)
		if err != nil {
			return err
		}
		if err := f(i, end); err != nil {
			return err
		}
		i = skipSpace(s, end)
		if i >= len(s) {
			return errUnfinished
		}
		switch s[i] {
		case ',':
			i = skipSpace(s, i+1)
		case ']':
			return nil
		default:
			return errJSON
		}
	}
}

// isKey reports whether key, a JSON string without its quotes, is name.
func isKey(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key) == name // does not allocate
	}
	return string(unescape(key)) == name
}
