package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	// call is an id in the notation of a shell or driver: ObjectId("...").
	call = regexp.MustCompile(`^(?:new\s+)?(?:[A-Za-z]+\.)?(?i:Object_?Id|UUID)(?:\.createFromHexString)?\(\s*["'\x60]?([^"'\x60()]*)["'\x60]?\s*\)$`)

	// oid is an id in Extended JSON, or as the shell of old wrote it in keys.
	oid = regexp.MustCompile(`^\{?\s*["']?\$oid["']?\s*:\s*["']([^"']*)["']\s*\}?$`)

	// shellID is the _id of a document in the notation of the MongoDB shell.
	shellID = regexp.MustCompile(`["']?\b_id["']?\s*:\s*(?:new\s+)?(?i:Object_?Id|UUID)\(\s*["']([^"']*)["']\s*\)`)

	// embedded is an id that can be told from the words around it: an ObjectId,
	// a UUID, or a ULID in capitals.
	embedded = regexp.MustCompile(`\b(?:[0-9a-fA-F]{24}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25})\b`)

	// word is what has the length and the letters of an id of some format.
	word = regexp.MustCompile(`^[0-9A-Za-z-]{15,36}$`)
)

// inText returns what is in a line or in a quoted word.
func inText(line int, text []byte) []Found {
	trimmed := strings.Trim(string(text), " \t\r\n,;[]\ufeff")
	if trimmed == "" {
		return nil
	}
	if id := unwrap(trimmed); id != "" {
		return []Found{found(line, string(text), strings.Index(string(text), id), len(id))}
	}
	if ids := wordList(line, trimmed); ids != nil {
		return ids
	}
	if ids := inside(line, string(text)); ids != nil {
		return ids
	}
	return []Found{{Line: line, Err: fmt.Errorf("no id in %s", quoteShort([]byte(trimmed)))}}
}

// unwrap returns the word that stands where an id should in s, a single word with
// or without a notation around it; or "" if s is more than that.
func unwrap(s string) string {
	if inner := strings.Trim(s, "\"'`"); inner != "" && !strings.ContainsAny(inner, " \t\"'`(){}:/=,") {
		return inner
	}
	for _, notation := range []*regexp.Regexp{call, oid} {
		if m := notation.FindStringSubmatch(strings.Trim(s, "`")); m != nil && m[1] != "" {
			return m[1]
		}
	}
	return ""
}

// wordList returns the words of s if all of them could be ids.
func wordList(line int, s string) []Found {
	var ids []Found
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" \t,;", r) }) {
		id := unwrap(w)
		if !word.MatchString(id) {
			return nil
		}
		ids = append(ids, found(line, w, strings.Index(w, id), len(id)))
	}
	return ids
}

// inside returns the ids within s that stand out from what is around them.
func inside(line int, s string) []Found {
	var ids []Found
	for _, at := range embedded.FindAllStringIndex(s, -1) {
		ids = append(ids, found(line, s, at[0], at[1]-at[0]))
	}
	return ids
}

// inDocument returns the id of a document, which is JSON or in the notation of
// the MongoDB shell.
func inDocument(line int, text []byte) []Found {
	whole := string(text)
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		if m := shellID.FindStringSubmatchIndex(whole); m != nil {
			return []Found{found(line, whole, m[2], m[3]-m[2])}
		}
		if ids := inside(line, whole); ids != nil {
			return ids
		}
		return []Found{{Line: line, Err: fmt.Errorf("neither JSON nor a document with an id: %s", quoteShort(text))}}
	}
	for _, name := range []string{"$oid", "_id", "id"} {
		value, ok := members[name]
		if !ok {
			continue
		}
		id, err := idValue(value)
		if err != nil {
			return []Found{{Line: line, Err: fmt.Errorf("member %q: %w", name, err)}}
		}
		// The value stands in the text as it is unless it has escapes in it.
		member := max(strings.Index(whole, `"`+name+`"`), 0)
		at := strings.Index(whole[member:], id)
		if at < 0 {
			return []Found{{Line: line, Text: id}}
		}
		return []Found{found(line, whole, member+at, len(id))}
	}
	if ids := inside(line, whole); ids != nil {
		return ids
	}
	return []Found{{Line: line, Err: fmt.Errorf(`a document without "_id": %s`, quoteShort(text))}}
}

// idValue returns the text of a member that should be an id: a string, or an
// object such as {"$oid":"..."} or {"$uuid":"..."}.
func idValue(value json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(value, &s) == nil && value[0] == '"' {
		if s == "" {
			return "", errors.New("empty, want an id")
		}
		return s, nil
	}
	var wrapped map[string]json.RawMessage
	if json.Unmarshal(value, &wrapped) == nil && len(wrapped) == 1 {
		for name, inner := range wrapped {
			if (name == "$oid" || name == "$uuid") && json.Unmarshal(inner, &s) == nil && s != "" {
				return s, nil
			}
		}
	}
	return "", fmt.Errorf("%s is no id", quoteShort(value))
}

// found describes the id of n bytes at byte at of a piece.
func found(line int, piece string, at, n int) Found {
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
