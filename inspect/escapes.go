package inspect

import (
	"strings"

	"github.com/oidkit/oid/objectid"
)

// An escape is a character as programs write it, if what they write ends with hexadecimal digits.
// An id may stand directly behind it, as in \x22507f1f77bcf86cd799439011. Escapes that end with
// another character, such as \n, &quot; and most colours of terminals, need no row: an id may
// stand behind any character that is not a hexadecimal digit.
type escape struct {
	example string
	before  string // the text before the digits
	digits  int    // how many digits end the escape
	of      string // which digits these may be
}

var escapes = [...]escape{
	{`\x22`, `\x`, 2, hexDigits},       // nginx, Python, C, systemd
	{`%22`, `%`, 2, hexDigits},         // URLs
	{`%2522`, `%25`, 2, hexDigits},     // URLs within URLs
	{`\u0022`, `\u`, 4, hexDigits},     // JSON, Java
	{`%u0022`, `%u`, 4, hexDigits},     // escape() of JavaScript
	{`\U00000022`, `\U`, 8, hexDigits}, // Go, Python, C
	{`\b`, `\`, 1, "abef0"},            // JSON, C
	{`\042`, `\`, 3, octalDigits},      // C, shells, BIND
	{`#012`, `#`, 3, octalDigits},      // syslog
	{`#22`, `#`, 2, capitalDigits},     // HAProxy
	{`=3D`, `=`, 2, capitalDigits},     // mail, in quoted-printable
	{`^A`, `^`, 1, "ABCDEF"},           // cat -v, less
	{"\x1b[A", "\x1b[", 1, "ABCDEF"},   // a terminal: one line up
	{"\x1b[2A", "\x1b[", 2, capitalDigits},
	{"\x1b(B", "\x1b(", 1, "AB"}, // the end of a colour, as tput writes it
}

const (
	hexSize       = 2 * objectid.Size
	hexDigits     = "0123456789abcdefABCDEF"
	capitalDigits = "0123456789ABCDEF"
	octalDigits   = "01234567"

	longestEscape = 8 // most hexadecimal digits at the end of an escape
)

// idIn returns where the ObjectId in text[from:to] begins. All characters of text[from:to] are
// hexadecimal digits, and the characters around it are not. It returns -1 if the digits are not
// an ObjectId: they must be 24, except those that belong to an escape before them, and they must
// not be the end of a GUID.
func idIn(text string, from, to int) int {
	id := to - hexSize
	if id < from || id > from && !escapeEnds(text, from, id) || id == from && endsGUID(text, id) {
		return -1
	}
	return id
}

// escapeEnds reports whether an escape ends at text[end]. Its digits begin at text[from].
func escapeEnds(text string, from, end int) bool {
	for i := range escapes {
		e := &escapes[i]
		if at := end - e.digits; at >= from && strings.HasSuffix(text[:at], e.before) && strings.Trim(text[at:end], e.of) == "" {
			return true
		}
	}
	return false
}

// endsGUID reports whether the 24 digits at text[at] are the end of a GUID or of a trace id that
// is hyphenated as 8-24 or 8-4-4-24. Its beginning has both a letter and a digit.
func endsGUID(text string, at int) bool {
	if at == 0 || text[at-1] != '-' {
		return false
	}
	const longest = 30
	start := guidStart.Get().FindStringSubmatch(text[max(at-longest, 0):at])
	return start != nil && strings.ContainsAny(start[1], "0123456789") && strings.ContainsAny(start[1], "abcdefABCDEF")
}

// bracketed returns the ObjectId in a notation that has text[at] between its brackets.
func bracketed(text string, at int) (m Match, ok bool) {
	start := max(at-longestNotation, 0)
	from := strings.LastIndexAny(text[start:at], "{<\n")
	end := strings.IndexAny(text[at:min(at+longestNotation, len(text))], "}>\n")
	if from < 0 || end < 0 {
		return m, false
	}
	m = Match{Start: start + from, End: at + end + 1}
	m.ID, _ = inNotation(strings.ReplaceAll(text[m.Start:m.End], `\`, ""))
	return m, len(m.ID) == hexSize
}

// softBreak returns the ObjectId that is divided by a soft line break of quoted-printable, which is
// "=" at the end of a line. The break is directly before or after the digits text[from:to].
func softBreak(text string, from, to int) (m Match, ok bool) {
	if to < len(text) && text[to] == '=' {
		if m, ok = broken(text, to); ok {
			return m, true
		}
	}
	line := strings.TrimSuffix(strings.TrimSuffix(text[:from], "\n"), "\r")
	if !strings.HasSuffix(line, "=") {
		return m, false
	}
	return broken(text, len(line)-1)
}

// broken returns the ObjectId that is divided by "=" at text[at] and the end of its line.
func broken(text string, at int) (m Match, ok bool) {
	next := at + 1
	if strings.HasPrefix(text[next:], "\r\n") {
		next++
	}
	begin := brokenFrom(text, at)
	if begin == at || next == len(text) || text[next] != '\n' {
		return m, false
	}
	next++
	_, end := row(text, next, next, inDigits)
	const context = 32
	joined := text[max(begin-context, 0):at] + text[next:end]
	id := idIn(joined, len(joined)-(at-begin)-(end-next), len(joined))
	if id < 0 || len(joined)-id <= end-next {
		return m, false
	}
	return Match{end - (len(joined) - id) - (next - at), end, joined[id:]}, true
}

// brokenFrom returns where the digits before the "=" at text[at] begin, or at if they are not the
// beginning of an id that continues on the next line.
func brokenFrom(text string, at int) int {
	begin, _ := row(text, at, at, inDigits)
	if at-begin >= hexSize+longestEscape || begin > 0 && is(text[begin-1], inWord) {
		return at
	}
	return begin
}

// Continues reports whether text ends with a soft line break of quoted-printable within what may
// be an id. Find needs the next line too.
func Continues(text string) bool {
	line := strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	at := len(line) - 1
	return at >= 0 && line[at] == '=' && len(line) < len(text) && brokenFrom(line, at) < at
}
