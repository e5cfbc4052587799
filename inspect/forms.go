package inspect

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/objectid"
)

// form is a notation for ids. [Scan], [ParseObjectID] and [Find] each use some of its fields;
// if these fields are empty, that function does not read the form.
type form struct {
	name string

	// word, for Scan and ParseObjectID, is a regular expression that matches a whole word in
	// this form. Its group is the id.
	word string

	// decode, for Scan, returns the id of a word that encodes the bytes of the id.
	decode func(word string) (id string, ok bool)

	// shell, for Scan, is a regular expression that matches the value of _id in a document
	// of the MongoDB shell. Its group is the id.
	shell string

	// member and value, for Scan, read an _id that is an object of Extended JSON with one
	// member: {member: value}. value returns the id, or "" if there is none.
	member string
	value  func(json.RawMessage) (id string)

	// The other fields are for Find. An id in this form has at least 23 of the characters in a
	// row. Among them are exactly length letters and digits in a row, text[from:to], with
	// which find is called.
	characters string
	length     int
	find       func(text string, from, to int) (m Match, ok bool)
}

// forms are all forms. If a word matches several forms, the first one counts.
var forms = [...]form{
	{
		name:  "call", // of a constructor, in shells and drivers
		word:  call + "[\"'`]?([^\"'`()]*?)[\"'`]?" + `\s*\)`,
		shell: call + `["']([^"']*)["']\s*\)`,
	},
	{name: "bytes of SQL, or a hexadecimal number", word: `(?:0[xX]|\\x|[xX]')([0-9a-fA-F]{24}|[0-9a-fA-F]{32})'?`},
	{name: "Extended JSON", word: `\{?\s*["']?\$oid["']?\s*:\s*["']([^"']*)["']\s*\}?`, member: "$oid", value: stringIn},
	{name: "alone, or in quotes", word: `["']*(` + "[^ \t\"'`(){}:/=,]*" + `)["']*`},
	{name: "base64", decode: base64ID, member: "$binary", value: binaryIn},
	{name: "long number", member: "$numberLong", value: stringIn},
	{name: "ObjectId", characters: hexDigits},
	{name: "UUID", member: "$uuid", value: stringIn, characters: hexDigits + "-", length: 12, find: findUUID},
	{name: "ULID in capitals", characters: "0123456789ABCDEFGHJKMNPQRSTVWXYZ", length: 26, find: findULID},
	{name: "TypeID", characters: "0123456789abcdefghjkmnpqrstvwxyz", length: 26, find: findTypeID},
	{name: "gpid", characters: "0123456789abcdefABCDEF:.[]", length: 16, find: findGPID}, // the start time, between the address and the pid
}

const (
	// call is how shells and drivers call a constructor, up to the quotes of the id.
	call = `(?:new\s+)?(?:[A-Za-z]+\.)?(?i:Object_?Id|UUID)(?:\.createFromHexString)?\(\s*`
)

// words matches a word in any of the forms, and shellID an _id in a document of the shell.
var words, shellID = func() (_, _ pattern.Late) {
	var word, shell []string
	for _, f := range forms {
		if f.word != "" {
			word = append(word, f.word)
		}
		if f.shell != "" {
			shell = append(shell, f.shell)
		}
	}
	return pattern.Of(`^(?:` + strings.Join(word, "|") + `)$`), pattern.Of(`["']?\b_id["']?\s*:\s*(?:` + strings.Join(shell, "|") + `)`)
}()

// stringIn returns the JSON string in value, or "" if value is not a string.
func stringIn(value json.RawMessage) (s string) {
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// binaryIn returns the UUID or ObjectId whose bytes are in the value of $binary, or "".
func binaryIn(value json.RawMessage) string {
	var b struct {
		Base64  []byte `json:"base64"`
		SubType string `json:"subType"`
	}
	if json.Unmarshal(value, &b) != nil {
		return ""
	}
	if id, err := uuid.FromBytes(b.Base64); err == nil && (b.SubType == "04" || b.SubType == "4") {
		return id.String()
	}
	if id, err := objectid.FromBytes(b.Base64); err == nil {
		return id.String()
	}
	return ""
}

// proseWord matches ordinary words and numbers, which are valid base64 by chance.
var proseWord = pattern.Of(`^(?:[A-Za-z][a-z]+|[A-Z]+|[0-9]+)$`)

// base64ID returns the ObjectId whose twelve bytes a word encodes in base64, in either
// alphabet. Many words of 16 characters are base64 by chance, so the bytes must also begin with
// a time at which ids existed.
func base64ID(word string) (string, bool) {
	alphabet := base64.StdEncoding
	if strings.ContainsAny(word, "-_") {
		alphabet = base64.URLEncoding
	}
	raw, err := alphabet.DecodeString(word)
	if err != nil || len(raw) != objectid.Size || proseWord().MatchString(word) {
		return "", false
	}
	id := objectid.ID(raw)
	return id.String(), !id.Time().Before(era.First) && !era.IsFuture(id.Time(), time.Now())
}

var (
	// guidStart is the beginning of a GUID or of a trace id that is hyphenated as 8-24 or
	// 8-4-4-24. If it stands directly before 24 digits, and has both a letter and a digit,
	// the 24 digits are not an ObjectId.
	guidStart = pattern.Of(`(?:^|[^0-9A-Za-z])([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4})*-)$`)

	ulidInCapitals = pattern.Of(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	typeIDSuffix   = pattern.Of(`^[0-7][0-9a-hjkmnp-tv-z]{25}$`)
	typeIDPrefix   = pattern.Of(`(?:^|[^0-9A-Za-z_])([a-z](?:[a-z_]{0,61}[a-z])?_)$`)
	gpidForm       = pattern.Of(`(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}:[0-9]{16}:[0-9]{1,10}`)
)

func matchAt(text string, from, to int) (Match, bool) { return Match{from, to, text[from:to]}, true }

// isUUID reports whether the 36 characters of s are a UUID.
func isUUID(s string) bool {
	for i := range len(s) {
		if hyphen := i == 8 || i == 13 || i == 18 || i == 23; hyphen != (s[i] == '-') || !hyphen && !is(s[i], inDigits) {
			return false
		}
	}
	return true
}

// findUUID is called with the last 12 digits of a UUID.
func findUUID(text string, from, to int) (m Match, ok bool) {
	id := from - 24
	if id < 0 || !isUUID(text[id:to]) {
		return m, false
	}
	if begin, _ := row(text, id, id, inDigits); begin < id && !escapeEnds(text, begin, id) {
		return m, false
	}
	return matchAt(text, id, to)
}

func findULID(text string, from, to int) (m Match, ok bool) {
	if !ulidInCapitals().MatchString(text[from:to]) {
		return m, false
	}
	return matchAt(text, from, to)
}

// findTypeID is called with the characters after the prefix.
func findTypeID(text string, from, to int) (m Match, ok bool) {
	if !typeIDSuffix().MatchString(text[from:to]) {
		return m, false
	}
	prefix := typeIDPrefix().FindStringSubmatch(text[max(from-66, 0):from])
	if prefix == nil {
		return m, false
	}
	return matchAt(text, from-len(prefix[1]), to)
}

// findGPID is called with the start time of a gpid.
func findGPID(text string, from, to int) (m Match, ok bool) {
	if from == 0 || text[from-1] != ':' {
		return m, false
	}
	const longest = 80
	begin := max(from-longest, 0)
	all := gpidForm().FindAllStringIndex(text[begin:min(to+11, len(text))], -1)
	if len(all) == 0 || begin+all[len(all)-1][1] <= to {
		return m, false
	}
	last := all[len(all)-1]
	return matchAt(text, begin+last[0], begin+last[1])
}
