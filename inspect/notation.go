package inspect

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

	hexSize = 2 * objectid.Size
)

// idCall is how shells and drivers write an id, up to its quotes.
const idCall = `(?:new\s+)?(?:[A-Za-z]+\.)?(?i:Object_?Id|UUID)(?:\.createFromHexString)?\(\s*`

// notation is a word at the place of an id, in one of these notations:
//
//  1. the argument of a call
//  2. bytes of SQL, or a hexadecimal number
//  3. Extended JSON, with or without braces
//  4. the word alone, or in quotes
var notation = pattern.Of(`^(?:` + idCall + "[\"'`]?([^\"'`()]*?)[\"'`]?" + `\s*\)|` +
	`(?:0[xX]|\\x|[xX]')([0-9a-fA-F]{24}|[0-9a-fA-F]{32})'?|` +
	`\{?\s*["']?\$oid["']?\s*:\s*["']([^"']*)["']\s*\}?|` +
	`["']*(` + "[^ \t\"'`(){}:/=,]*" + `)["']*)$`)

// ParseObjectID returns the ObjectId that text consists of: 24 hexadecimal digits, bare or
// in any notation around them that [Scan] reads, with or without a comma or semicolon
// after it.
func ParseObjectID(text string) (id objectid.ID, ok bool) {
	if len(text) != hexSize {
		// Trim is several times as fast for a set of ASCII alone.
		text = unwrap(strings.Trim(strings.TrimPrefix(text, mark), around))
	}
	ok = len(text) == hexSize && id.Set(text) == nil
	return id, ok
}

// unwrap returns the word at the place of an id in s, a single word with or without
// a notation around it; or "" if s is more than that.
func unwrap(s string) string {
	inner := s
	if call, found := strings.CutPrefix(s, "ObjectId("); found && strings.HasSuffix(call, ")") {
		inner = call[:len(call)-1]
		if n := len(inner) - 2; n == hexSize && inner[0] == inner[n+1] && strings.IndexByte(`"'`, inner[0]) >= 0 {
			inner = inner[1 : n+1]
		}
	}
	if objectid.Valid(inner) { // most of what programs print: no need to look further
		return inner
	}
	m := notation().FindStringSubmatch(strings.Trim(s, "`"))
	return strings.Join(m[min(1, len(m)):], "")
}
