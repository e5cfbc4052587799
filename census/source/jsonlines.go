package source

import (
	"bytes"
	"errors"
)

// jsonLines reads one JSON document per line.
//
// The position of the id depends only on the bytes before it. So if a line begins
// with the same bytes as the last line whose id was found by scanning, its id is at
// the same position.
type jsonLines struct {
	*Input
	before []byte // the bytes before the digits of an id
	after  []byte // the bytes after them, up to the closing brace
}

// maxBefore is how many bytes before an id are compared at most. With more, lines
// rarely agree.
const maxBefore = 512

func (p *jsonLines) parse(block []byte, b *Batch) {
	place := uint32(0)
	for ; len(block) > 0; place++ {
		n, k := len(p.before), len(p.after)
		if n > 0 && len(block) >= n+hexDigits+k &&
			string(block[:n]) == string(p.before) && string(block[n+hexDigits:n+hexDigits+k]) == string(p.after) {
			from := n + hexDigits + k
			end := bytes.IndexByte(block[from:], '\n')
			if end < 0 {
				end = len(block) - from
			}
			end += from
			if endsObject(block[:end]) && b.addHex(block[n:n+hexDigits], place) {
				block = block[min(end+1, len(block)):]
				continue
			}
		}
		line, rest, _ := bytes.Cut(block, []byte{'\n'})
		block = rest
		p.line(line, place, b)
	}
	b.Documents = place
}

// endsObject reports whether a line ends as an object does.
func endsObject(line []byte) bool {
	for n := len(line) - 1; n >= 0; n-- {
		if c := line[n]; c == '}' {
			return true
		} else if !isSpace[c] {
			return false
		}
	}
	return false
}

// line adds the values of one line.
func (p *jsonLines) line(line []byte, place uint32, b *Batch) {
	i := skipSpace(line, 0)
	if i == len(line) {
		return
	}
	if line[i] == '{' && !endsObject(line) {
		b.addProblem(place, "the JSON document does not end on its line")
		return
	}
	digits, err := b.addDocument(line, i, place, p.path, p.elements)
	if err != nil {
		b.addProblem(place, "%w: %q", err, clip(line[i:]))
		return
	}
	if digits < 0 || digits > maxBefore {
		return
	}
	p.before = append(p.before[:0], line[:digits]...)
	end := bytes.IndexByte(line[digits:], '}') + digits + 1
	p.after = append(p.after[:0], line[digits+hexDigits:end]...)
}

// addDocument adds the values that path names in the document that starts at i.
// digits is the position of an id's digits if nothing after them matters, or -1. A
// document that is itself an id or a string, as in the results of distinct(), is the
// value.
func (b *Batch) addDocument(s []byte, i int, place uint32, path []string, elements bool) (digits int, err error) {
	digits = -1
	if s[i] != '{' || oidDigits(bytes.TrimRight(s[i:], " \t\r\n")) >= 0 {
		end, err := skipValue(s, i)
		switch {
		case err != nil:
		case skipSpace(s, end) != len(s):
			err = errors.New("text after the JSON document")
		case wordType(s[i:end]) == typeText:
			err = errJSON
		}
		if err != nil {
			return -1, err
		}
		if isQuote[s[i]] && b.addPasted(short(s[i:end]), place) {
			return -1, nil
		}
		b.addJSON(s, i, end, place, false)
		return -1, nil
	}
	found := 0
	err = findJSON(s, i, path, func(from, to int) {
		found++
		digits = b.addJSON(s, from, to, place, elements)
	})
	if err != nil {
		return -1, err
	}
	if found == 0 {
		b.Without++
	}
	if found != 1 || len(path) > 1 {
		digits = -1
	}
	return digits, nil
}
