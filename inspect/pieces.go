package inspect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/objectid"
)

const (
	// separators are characters that are between ids and are not part of an id.
	separators = blanks + "[]"

	blanks = " \t\r\n,;" // separators that no id in any notation begins or ends with

	// mark is the byte order mark, which some programs write before a text in UTF-8.
	mark = "\ufeff"
)

// idLike matches words that have the length and the characters of an id of any format.
var idLike = pattern.Of(`^[0-9A-Za-z-]{15,36}$`)

// ParseObjectID returns the ObjectId that text consists of: 24 hexadecimal digits, bare or in
// any notation that [Scan] reads, such as ObjectId("..."). Spaces, commas, semicolons and
// square brackets around it are ignored. ok is false if text is anything else.
func ParseObjectID(text string) (id objectid.ID, ok bool) {
	if !objectid.Valid(text) {
		if strings.HasPrefix(text, "{") && !isMember(firstMember(text)) {
			return id, false // a compound _id, of which a dump may have millions
		}
		// Trim is several times as fast for a set of ASCII alone.
		text, _ = unwrap(strings.Trim(strings.TrimPrefix(text, mark), blanks))
		if !objectid.Valid(text) {
			return id, false
		}
	}
	return id, id.Set(text) == nil
}

// IsTimeAlone reports whether text is {timestamp, date}, as which Java writes an ObjectId. Its other
// eight bytes are not there.
func IsTimeAlone(text string) bool {
	_, err := inNotation(text)
	return err != nil
}

// unwrap removes the notation around the id in s, see inNotation: of ObjectId("x") it returns x,
// which need not be a valid id.
func unwrap(s string) (id string, err error) {
	inner := s
	if args, found := strings.CutPrefix(s, "ObjectId("); found && strings.HasSuffix(args, ")") {
		inner = args[:len(args)-1]
		if n := len(inner) - 2; n == hexSize && inner[0] == inner[n+1] && strings.IndexByte(`"'`, inner[0]) >= 0 {
			inner = inner[1 : n+1]
		}
	}
	if objectid.Valid(inner) { // the fast path for most texts that programs print
		return inner, nil
	}
	return inNotation(s)
}

// inText returns the ids in buf, which is a line or a quoted word. If the text matches several
// rows of this list, the first one counts:
//
//  1. one id of any format, in one of the forms
//  2. the bytes of one ObjectId in base64. Many words of 16 characters are base64 by chance, so the
//     word must not be an ordinary word or a number, and a census does not read this notation.
//  3. a list of words that all look like ids
//  4. ids that [Find] finds anywhere in the text
//  5. a word in one of the forms that is not an id, which Inspect will refuse
func (s *scanner) inText(line int) []result {
	text := string(s.buf)
	if id := strings.TrimRight(text, "\r\n"); objectid.Valid(id) {
		s.one[0] = result{Found: Found{Line: line, Text: id}} // the fast path for the lines of a list
		return s.one[:]
	}
	trimmed := strings.Trim(text, separators+mark)
	if trimmed == "" {
		return nil
	}
	var word string
	if len(trimmed) < hexSize || !objectid.Valid(trimmed[:hexSize]) { // else a list of words
		var err error
		if word, err = unwrap(strings.Trim(text, blanks+mark)); err != nil {
			return refused(line, text, err)
		}
		if word != "" && isID(word) {
			return resultAt(line, text, word, 0)
		}
	}
	if id := inBase64(trimmed); id != "" && !proseWord.Get().MatchString(trimmed) {
		return resultAt(line, text, id, 0)
	}
	if ids := wordList(line, trimmed); ids != nil {
		return ids
	}
	if ids := anywhere(line, text); ids != nil {
		return ids
	}
	if word != "" {
		return resultAt(line, text, word, 0)
	}
	return refused(line, text, noID("no id in "+quoteShort(trimmed)))
}

// isID reports whether s is an id of a known format.
func isID(s string) bool {
	_, err := Inspect(s, nil)
	return err == nil
}

// wordList returns the words of s if all of them look like ids, otherwise nil.
func wordList(line int, s string) (ids []result) {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" \t,;", r) }) {
		id, _ := unwrap(w)
		if !idLike.Get().MatchString(id) && (id == "" || !isID(id)) {
			return nil
		}
		ids = append(ids, resultAt(line, w, id, 0)...)
	}
	return ids
}

// anywhere returns the ids that [Find] finds in s.
func anywhere(line int, s string) (ids []result) {
	for _, m := range Find(s) {
		ids = append(ids, result{Found: foundAt(line, s, m)})
	}
	return ids
}

// proseWord matches ordinary words and numbers, which are valid base64 by chance.
var proseWord = pattern.Of(`^(?:[A-Za-z][a-z]+|[A-Z]+|[0-9]+)$`)

// inDocument returns the id of a document, which is JSON or in the notation of
// the MongoDB shell.
func inDocument(line int, text []byte) []result {
	whole := string(text)
	if isMember(firstMember(whole)) {
		if id, err := inNotation(plain(whole)); err != nil {
			return refused(line, whole, err)
		} else if id != "" {
			return resultAt(line, whole, id, 0)
		}
	}
	var wrong error
	for _, name := range []string{"_id", "id"} {
		value, at := member(whole, name)
		if value == "" {
			continue
		}
		id, err := idValue(value)
		if err == nil && name == "id" && !isID(id) {
			err = fmt.Errorf("%q is not an id", id)
		}
		if err == nil {
			return resultAt(line, whole, id, at)
		}
		wrong = fmt.Errorf("member %q: %w", name, err)
		if name == "_id" { // certainly the id of the document
			return refused(line, whole, wrong)
		}
	}
	// In lines of logs the member id can mean anything, so ids in other members count too.
	if ids := anywhere(line, whole); ids != nil {
		return ids
	}
	switch {
	case wrong != nil:
		return refused(line, whole, noID(wrong.Error()))
	case json.Valid(text):
		return refused(line, whole, noID(`a document without "_id": `+quoteShort(whole)))
	}
	return refused(line, whole, noID("neither JSON nor a document with an id: "+quoteShort(whole)))
}

// member returns the value of a member of a document, and where the member begins. value is "" if
// the document has no such member.
func member(document, name string) (value string, at int) {
	depth, from, key := 0, 0, ""
	for i := 0; i < len(document); i++ {
		c := document[i]
		switch {
		case c == '"' || c == '\'':
			for i++; i < len(document) && document[i] != c; i++ {
				if document[i] == '\\' {
					i++
				}
			}
		case strings.IndexByte("{[(", c) >= 0:
			if depth++; depth == 1 {
				from = i + 1
			}
		case c == ':' && key == "":
			key, at, from = strings.Trim(document[from:i], " \t\r\n\"'"), from, i+1
		case strings.IndexByte(",}])", c) >= 0:
			if depth == 1 && key == name {
				return strings.TrimSpace(document[from:i]), at
			} else if depth == 1 {
				key, from = "", i+1
			}
			if c != ',' {
				depth--
			}
		}
	}
	return "", 0
}

// plain returns a text without escapes if it is JSON. It does not decode the text, because that
// would make WebAssembly larger by a fourteenth.
func plain(text string) string {
	if strings.IndexByte(text, '\\') >= 0 && json.Valid([]byte(text)) {
		inGo := strings.NewReplacer(`\\`, `\\`, `\"`, `\"`, `\/`, "/", `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(text)
		if unescaped, err := strconv.Unquote(`"` + inGo + `"`); err == nil {
			return unescaped
		}
	}
	return text
}

// idValue returns the id in the value of a member: a string, or an id in one of the notations.
func idValue(value string) (id string, err error) {
	if id, err = inNotation(plain(value)); err == nil && (id == "" || strings.IndexByte(`"'`, value[0]) < 0 && !isID(id)) {
		err = fmt.Errorf("%s is not an id", quoteShort(value))
	}
	return id, err
}

// refused returns the error of a piece without an id. The piece begins on the line.
func refused(line int, piece string, err error) []result {
	return []result{{Found{Line: line, Text: piece}, fmt.Errorf("inspect: %w", err)}}
}

// resultAt returns the id of a piece, with the text around it. It looks for the id in
// piece[from:]; an id that is not there was encoded, and has no text around it.
func resultAt(line int, piece, id string, from int) []result {
	at := strings.Index(piece[from:], id)
	if at < 0 {
		return []result{{Found: Found{Line: line, Text: id}}}
	}
	return []result{{Found: foundAt(line, piece, Match{from + at, from + at + len(id), id})}}
}

// foundAt describes the id m of a piece. line is where the piece begins.
func foundAt(line int, piece string, m Match) Found {
	const keep = 40
	before, after := piece[:m.Start], strings.TrimRight(piece[m.End:], "\r\n")
	if skip := utf8.RuneCountInString(before) - keep; skip > 0 {
		before = "..." + string([]rune(before)[skip:])
	}
	if utf8.RuneCountInString(after) > keep {
		after = string([]rune(after)[:keep]) + "..."
	}
	return Found{Line: line, Text: m.ID, Before: before, After: after}
}

// quoteShort returns s in quotes, cut to what fits on a line.
func quoteShort(s string) string {
	const keep = 60
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) > keep {
		return fmt.Sprintf("%q...", string([]rune(s[:min(len(s), 4*keep)])[:keep]))
	}
	return fmt.Sprintf("%q", s)
}
