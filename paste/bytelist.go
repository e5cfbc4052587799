package paste

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// shortestList is the length of twelve digits with a character between them.
const shortestList = 23

// byteList is the words between equal separators.
type byteList struct {
	separator byte // ' ', ',', ':', '-' or, where it is none of these, 0
	n         int
	words     [objectid.Size + 1]span // the first of the n words
}

// span is bytes of a text, from the first up to the one before to.
type span struct{ from, to int }

// numbers appends the ids in s[from:to], which has only the characters of inList, to
// places.
func numbers(places []Place, s string, from, to int) []Place {
	var list byteList
	end := func() {
		if p, ok := list.id(s); ok && (len(places) == 0 || places[len(places)-1].To <= p.From) {
			places = append(places, p)
		}
	}
	var last span
	for at := from; at < to; {
		if !is(s[at], inWord) && !(s[at] == '-' && at > from && !is(s[at-1], inWord)) {
			at++
			continue
		}
		word := span{at, at + 1}
		for word.to < to && is(s[word.to], inWord) {
			word.to++
		}
		at = word.to
		if word.from > 0 && is(s[word.from-1], inWord) || word.to < len(s) && is(s[word.to], inWord) {
			last = span{} // the end or the beginning of a word of prose
			continue
		}
		if last == (span{}) {
			end()
			list = byteList{}
		} else if separator := separatorOf(s[last.to:word.from]); separator != list.separator || separator == 0 {
			end()
			list = byteList{separator: separator}
			list.add(last)
		}
		list.add(word)
		last = word
	}
	end()
	return places
}

// separatorOf returns the character that separates two words, or 0.
func separatorOf(between string) byte {
	switch trimmed := strings.Trim(between, " \t"); {
	case trimmed == "" && len(between) <= 2:
		return ' '
	case trimmed == ",", (trimmed == ":" || trimmed == "-") && len(between) == 1:
		return trimmed[0]
	}
	return 0
}

func (l *byteList) add(word span) {
	if l.n < len(l.words) {
		l.words[l.n] = word
	}
	l.n++
}

// id returns the id that the list is: two or four hexadecimal digits at a time as in
// a hex dump, where an offset may precede them, or twelve numbers, in a bracket if
// they are decimal.
func (l *byteList) id(s string) (Place, bool) {
	words := l.words[:min(l.n, len(l.words))]
	if len(words) > 0 && l.n <= len(l.words) && words[0].to-words[0].from >= 7 {
		words = words[1:]
	} else if l.n > objectid.Size {
		return Place{}, false
	}
	every := func(is func(word string) bool) bool {
		for _, w := range words {
			if !is(s[w.from:w.to]) {
				return false
			}
		}
		return true
	}
	digits := func(n int) bool { return every(func(w string) bool { return len(w) == n && isHex(w) }) }
	var raw []byte
	sure := false
	switch {
	case l.separator == ' ' && len(words) == objectid.Size/2 && digits(4),
		l.separator != ',' && len(words) == objectid.Size && digits(2) && !inBracket(s, words[0].from):
		for _, w := range words {
			b, _ := hex.DecodeString(s[w.from:w.to])
			raw = append(raw, b...)
		}
	case (l.separator == ' ' || l.separator == ',') && len(words) == objectid.Size:
		sure = every(func(w string) bool { return len(w) > 2 && w[0] == '0' && w[1]|0x20 == 'x' })
		if !sure && !inBracket(s, words[0].from) {
			return Place{}, false
		}
		for _, w := range words {
			word := s[w.from:w.to]
			n, err := strconv.ParseInt(word, 0, 16)
			if err != nil || n < -128 || n > 255 || !sure && word != strconv.FormatInt(n, 10) {
				return Place{}, false
			}
			raw = append(raw, byte(n))
		}
	}
	if raw == nil || !sure && !plausible(string(raw)) {
		return Place{}, false
	}
	return Place{words[0].from, words[len(words)-1].to, hex.EncodeToString(raw)}, true
}

// inBracket reports whether s[at] is the first after an opening bracket and blanks.
func inBracket(s string, at int) bool {
	before := strings.TrimRight(s[:at], " \t")
	return before != "" && strings.IndexByte("[{(", before[len(before)-1]) >= 0
}
