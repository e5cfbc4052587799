package paste

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// shortestList is the length of twelve digits with a character between them.
const shortestList = 23

// span is bytes of a text, from the first up to the one before to.
type span struct{ from, to int }

// numbers appends the ids in s[from:to], which has only the characters of inList, to
// places. It cuts the text into words, and these into lists, the words with one separator
// between them; a word is in two lists where the separator changes. A word that goes on
// outside of s[from:to] is prose, and in none:
//
//	s[from:to]   00001000  50 7f 1f 77 bc f8 6c d7 99 43 90 11, 12, 13
//	lists        [              with ' '                     ]
//	                                                       [ with ',' ]
func numbers(places []Place, s string, from, to int) []Place {
	words, separator := make([]span, 0, objectid.Size+1), byte(0)
	end := func() {
		if p, ok := listID(s, words, separator); ok && (len(places) == 0 || places[len(places)-1].To <= p.From) {
			places = append(places, p)
		}
	}
	for at := from; at < to; {
		if !is(s[at], inWord) && (s[at] != '-' || at == from || is(s[at-1], inWord)) {
			at++
			continue
		}
		var word span
		word.from, word.to = row(s, at, at+1, inWord)
		at = word.to
		if word.from < from || word.to > to {
			end()
			words, separator = words[:0], 0
			continue
		}
		if n := len(words); n > 0 {
			last := words[n-1]
			if next := separatorOf(s[last.to:word.from]); next != separator || next == 0 {
				end()
				words, separator = append(words[:0], last), next
			}
		}
		words = append(words, word)
	}
	end()
	return places
}

// separatorOf returns the character that separates two words, or 0.
func separatorOf(between string) byte {
	switch trimmed := strings.TrimSpace(between); {
	case trimmed == "" && len(between) <= 2:
		return ' '
	case trimmed == ",", (trimmed == ":" || trimmed == "-") && len(between) == 1:
		return trimmed[0]
	}
	return 0
}

// listID returns the id that a list of words of s is, without the offset that may precede
// the bytes in a hex dump.
func listID(s string, words []span, separator byte) (Place, bool) {
	if n := len(words); n > 0 && n <= objectid.Size+1 && words[0].to-words[0].from >= 7 {
		words = words[1:]
	}
	if n := len(words); n != objectid.Size && n != objectid.Size/2 {
		return Place{}, false
	}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = s[w.from:w.to]
	}
	before := strings.TrimRight(s[:words[0].from], " \t")
	raw, sure := listed(texts, separator, before != "" && strings.IndexByte("[{(", before[len(before)-1]) >= 0)
	if raw == nil || !sure && !plausible(string(raw)) {
		return Place{}, false
	}
	return Place{words[0].from, words[len(words)-1].to, hex.EncodeToString(raw)}, true
}

// listed returns the bytes that words are: two or four hexadecimal digits at a time as in
// a hex dump, or twelve numbers, in a bracket if they are decimal. sure means that they
// begin with 0x.
func listed(words []string, separator byte, inBracket bool) (raw []byte, sure bool) {
	every := func(is func(word string) bool) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !is(w) })
	}
	digits := 2 * objectid.Size / len(words)
	switch isDump := every(func(w string) bool { return len(w) == digits && isHex(w) }); {
	case isDump && (digits == 4 && separator == ' ' || digits == 2 && separator != ',' && !inBracket):
		raw, _ = hex.DecodeString(strings.Join(words, ""))
		return raw, false
	case digits != 2 || separator != ' ' && separator != ',':
		return nil, false
	}
	sure = every(func(w string) bool { return len(w) > 2 && w[0] == '0' && w[1]|0x20 == 'x' })
	for _, w := range words {
		n, err := strconv.ParseInt(w, 0, 16)
		if err != nil || n < -128 || n > 255 || !sure && (!inBracket || w != strconv.FormatInt(n, 10)) {
			return nil, false
		}
		raw = append(raw, byte(n))
	}
	return raw, sure
}
