package inspect

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/objectid"
)

var (
	// shellID is the _id of a document in the notation of the MongoDB shell.
	shellID = pattern.Of(`["']?\b_id["']?\s*:\s*` + idCall + `["']([^"']*)["']\s*\)`)

	// wordForm has the length and the characters of an id of some format.
	wordForm = pattern.Of(`^[0-9A-Za-z-]{15,36}$`)

	// proseWord is a word that is base64 by chance.
	proseWord = pattern.Of(`^(?:[A-Za-z][a-z]+|[A-Z]+|[0-9]+)$`)
)

// inText returns what is in buf, a line or a quoted word: the first of these that it has.
// The order decides what a text means that could be several of them.
//
//  1. one id of any format, alone or in a notation
//  2. one ObjectId as twelve bytes in base64
//  3. a list of words that could all be ids
//  4. ids anywhere, see [Find]
//  5. a word at the place of an id, which is not one
func (s *scanner) inText(line int) []Found {
	text := string(s.buf)
	if id := strings.TrimRight(text, "\r\n"); objectid.Valid(id) {
		s.one[0] = Found{Line: line, Text: id} // in every line of a list: no need to look further
		return s.one[:]
	}
	trimmed := strings.Trim(text, around+mark)
	if trimmed == "" {
		return nil
	}
	word := unwrap(trimmed)
	if word != "" && isID(word) {
		return []Found{foundAt(line, text, strings.Index(text, word), len(word))}
	}
	if id, ok := base64ID(trimmed); ok {
		return []Found{{Line: line, Text: id.String()}}
	}
	if ids := wordList(line, trimmed); ids != nil {
		return ids
	}
	if ids := inside(line, text); ids != nil {
		return ids
	}
	if word != "" {
		return []Found{foundAt(line, text, strings.Index(text, word), len(word))}
	}
	return []Found{{Line: line, err: noID("no id in " + quoteShort([]byte(trimmed)))}}
}

// isID reports whether s is an id of a known format.
func isID(s string) bool {
	_, err := Inspect(s, nil)
	return err == nil
}

// base64ID returns the id that a word is as twelve bytes in base64, of either alphabet.
// Other words of 16 characters are so by chance: the bytes must have a time at which ids
// existed.
func base64ID(word string) (id objectid.ID, ok bool) {
	alphabet := base64.StdEncoding
	if strings.ContainsAny(word, "-_") {
		alphabet = base64.URLEncoding
	}
	raw, err := alphabet.DecodeString(word)
	if err != nil || len(raw) != objectid.Size || proseWord().MatchString(word) {
		return id, false
	}
	id = objectid.ID(raw)
	return id, !id.Time().Before(era.First) && !era.IsFuture(id.Time(), time.Now())
}

// wordList returns the words of s if all of them could be ids.
func wordList(line int, s string) []Found {
	var ids []Found
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" \t,;", r) }) {
		id := unwrap(w)
		if !wordForm().MatchString(id) && (id == "" || !isID(id)) {
			return nil
		}
		ids = append(ids, foundAt(line, w, strings.Index(w, id), len(id)))
	}
	return ids
}

// inside returns the ids within s that are recognised wherever they are.
func inside(line int, s string) []Found {
	var ids []Found
	for _, p := range Find(s) {
		ids = append(ids, foundAt(line, s, p.Start, p.End-p.Start))
	}
	return ids
}

// inDocument returns the id of a document, which is JSON or in the notation of
// the MongoDB shell.
func inDocument(line int, text []byte) []Found {
	whole := string(text)
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		if m := shellID().FindStringSubmatchIndex(whole); m != nil {
			return []Found{foundAt(line, whole, m[2], m[3]-m[2])}
		}
		if ids := inside(line, whole); ids != nil {
			return ids
		}
		return []Found{{Line: line, err: noID("neither JSON nor a document with an id: " + quoteShort(text))}}
	}
	var refused error
	for _, name := range []string{"$oid", "_id", "id"} {
		value, ok := members[name]
		if !ok {
			continue
		}
		id, err := idValue(value)
		if err == nil && name == "id" && !isID(id) {
			err = fmt.Errorf("%q is not an id", id)
		}
		if err != nil {
			refused = fmt.Errorf("member %q: %w", name, err)
			break
		}
		// The value is in the text as it is unless it is encoded.
		member := max(strings.Index(whole, `"`+name+`"`), 0)
		at := strings.Index(whole[member:], id)
		if at < 0 {
			return []Found{{Line: line, Text: id}}
		}
		return []Found{foundAt(line, whole, member+at, len(id))}
	}
	// Only _id is certainly the id of the document. Lines of logs have other things
	// in their id.
	if _, sure := members["_id"]; !sure {
		if ids := inside(line, whole); ids != nil {
			return ids
		}
		if _, wrapped := members["$oid"]; !wrapped && refused != nil {
			refused = noID(refused.Error())
		}
	}
	if refused == nil {
		refused = noID(`a document without "_id": ` + quoteShort(text))
	}
	return []Found{{Line: line, err: refused}}
}

// idValue returns the text of a member that should be an id: a string, a whole
// number, or one of these or a UUID in Extended JSON.
func idValue(value json.RawMessage) (string, error) {
	refused := fmt.Errorf("%s is not an id", quoteShort(value))
	var s string
	switch {
	case len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil:
		if s == "" {
			return "", errors.New("empty, want an id")
		}
		return s, nil
	case len(value) >= 15 && bytes.Trim(value, "0123456789") == nil: // as long as a Snowflake
		return string(value), nil
	}
	var wrapped struct {
		OID    string `json:"$oid"`
		UUID   string `json:"$uuid"`
		Long   string `json:"$numberLong"`
		Binary struct {
			Base64  []byte `json:"base64"`
			SubType string `json:"subType"`
		} `json:"$binary"`
	}
	if json.Unmarshal(value, &wrapped) != nil {
		return "", refused
	}
	b := wrapped.Binary
	if id, err := uuid.FromBytes(b.Base64); err == nil && (b.SubType == "04" || b.SubType == "4") {
		return id.String(), nil
	}
	if id, err := objectid.FromBytes(b.Base64); err == nil {
		return id.String(), nil
	}
	if s = cmp.Or(wrapped.OID, wrapped.UUID, wrapped.Long); s == "" {
		return "", refused
	}
	return s, nil
}

// foundAt describes the id of n bytes at byte at of a piece.
func foundAt(line int, piece string, at, n int) Found {
	const keep = 40
	before, after := piece[:at], strings.TrimRight(piece[at+n:], "\r\n")
	if skip := utf8.RuneCountInString(before) - keep; skip > 0 {
		before = "..." + string([]rune(before)[skip:])
	}
	if utf8.RuneCountInString(after) > keep {
		after = string([]rune(after)[:keep]) + "..."
	}
	return Found{Line: line, Text: piece[at : at+n], Before: before, After: after}
}

// quoteShort returns b in quotes, cut to what fits on a line.
func quoteShort(b []byte) string {
	const keep = 60
	b = bytes.TrimSpace(b)
	if utf8.RuneCount(b) > keep {
		return fmt.Sprintf("%q...", string([]rune(string(b[:min(len(b), 4*keep)]))[:keep]))
	}
	return fmt.Sprintf("%q", b)
}
