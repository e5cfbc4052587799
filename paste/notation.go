package paste

import (
	"strings"

	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/objectid"
)

const (
	// around are characters that separate ids and belong to none.
	around = " \t\r\n,;[]"

	// mark is what some programs write before a text in UTF-8.
	mark = "\ufeff"
)

// extended is an id in Extended JSON, with or without braces.
var extended = pattern.Of(`^\{?\s*["']?\$oid["']?\s*:\s*["']([^"']*)["']\s*\}?$`)

// ObjectID returns the ObjectId that text consists of: 24 hexadecimal digits, bare or
// in any notation around them that [Scan] reads, with or without a comma or semicolon
// after it.
func ObjectID(text string) (id objectid.ID, ok bool) {
	if inner, found := strings.CutPrefix(text, "ObjectId("); found && len(inner) == 2*objectid.Size+1 && inner[2*objectid.Size] == ')' {
		text = inner[:2*objectid.Size] // in every row of mongoexport's CSV: no need to look further
	}
	if len(text) != 2*objectid.Size {
		// Trim is several times as fast for a set of ASCII alone.
		text = unwrap(strings.Trim(strings.TrimPrefix(text, mark), around))
	}
	if len(text) != 2*objectid.Size {
		return objectid.ID{}, false
	}
	return id, id.Set(text) == nil
}

// unwrap returns the word at the place of an id in s, a single word with or without
// a notation around it; or "" if s is more than that.
func unwrap(s string) string {
	s = strings.Trim(s, "`")
	for _, notation := range []func(string) string{call, literal} {
		if word := notation(s); word != "" {
			return word
		}
	}
	if inner := strings.Trim(s, `"'`); !strings.ContainsAny(inner, " \t\"'`(){}:/=,") {
		return inner
	}
	if m := extended().FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// literal returns the digits of an id as SQL writes bytes, or of a hexadecimal
// number, or "" if s is something else.
func literal(s string) string {
	for _, prefix := range []string{"0x", "0X", `\x`, "x'", "X'"} {
		digits, ok := strings.CutPrefix(s, prefix)
		if digits = strings.TrimSuffix(digits, "'"); ok && (len(digits) == 24 || len(digits) == 32) && isHex(digits) {
			return digits
		}
	}
	return ""
}

// call returns the argument of ObjectId("..."), as shells and drivers write ids, or
// "" if s is something else.
func call(s string) string {
	s, ok := strings.CutSuffix(s, ")")
	name, argument, found := strings.Cut(s, "(")
	if !ok || !found {
		return ""
	}
	if rest, isNew := strings.CutPrefix(name, "new"); isNew && strings.TrimLeft(rest, " \t") != rest {
		name = strings.TrimLeft(rest, " \t")
	}
	name = strings.TrimSuffix(name, ".createFromHexString")
	if module, method, dotted := strings.Cut(name, "."); dotted && isWord(module) {
		name = method
	}
	if !strings.EqualFold(name, "ObjectId") && !strings.EqualFold(name, "Object_Id") && !strings.EqualFold(name, "UUID") {
		return ""
	}
	argument = strings.Trim(argument, " \t")
	if n := len(argument); n > 0 && strings.IndexByte("\"'`", argument[0]) >= 0 {
		argument = argument[1:]
	}
	if n := len(argument); n > 0 && strings.IndexByte("\"'`", argument[n-1]) >= 0 {
		argument = argument[:n-1]
	}
	if strings.ContainsAny(argument, "\"'`()") {
		return ""
	}
	return argument
}

// isWord reports whether s is one letter or more.
func isWord(s string) bool {
	return s != "" && strings.TrimFunc(s, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }) == ""
}
