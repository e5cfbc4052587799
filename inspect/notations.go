package inspect

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/objectid"
)

// notation is a way in which programs write one id; docs/reference/notations.md has examples. [Scan], [ParseObjectID] and a census read the
// notations of the table, alone and as the _id of a document. If a text is in several notations,
// the first one counts.
type notation struct {
	// word matches the id with what is written around it. It has one group, which is the id or, if
	// decode is not nil, what decode decodes.
	word   *pattern.Late
	decode func(group string) (id string)

	// members are the members of an object, named as by membersOf. ofMembers gets their values in
	// this order. It returns the id, or "" if the values are not those of an id.
	members   string
	ofMembers func(values []string) (id string, err error)
}

var notations = [...]notation{
	// What shells and drivers print.
	{word: pattern.Of(`^#?(?:new\s+)?(?:[A-Za-z_]+(?:\.|::|\\))*(?i:Object_?Id|UUID|MongoId)(?:Hex|FromHex|[.:]+\w+!?)?[(<]\s*` + "[\"'`]?([^\"'`()<>]*?)[\"'`]?" + `\s*[)>]$`)},
	{word: pattern.Of(`^\{?\s*["'\[]?(?:\$?oid|\$id|\$uuid|\$numberLong)["'\]]?\s*(?::|=>)\s*["']?([^"'\s]*)["']?\s*\}?$`)},
	{word: pattern.Of(`^(?:0[xX]|\\x|[xX]')([0-9a-fA-F]{24}|[0-9a-fA-F]{32})'?$`)},
	// Bytes.
	{word: pattern.Of(`^(?:<Buffer )?([0-9a-fA-F]+(?:[ :][0-9a-fA-F]+)+)>?$`), decode: bytesInHex},
	{word: pattern.Of(`^(?:[\w.]*(?:\(12\))?(?: \[Uint8Array\])? ?(?:\[\d*\]byte)?[\[{])?\s*((?:` + aByte + `[,\s]+)+` + aByte + `),?\s*[\]}]?$`), decode: bytesInList},
	{word: pattern.Of(`^(?:BinData\(\s*\d+,\s*|Binary\.createFromBase64\()["']([0-9A-Za-z+/=]+)["'](?:,\s*\d+\s*)?\)$`), decode: inBase64},
	{word: pattern.Of(`^b["'](.+)["']$`), decode: bytesOfPython},
	// Any other word.
	{word: pattern.Of(`^["'\[]*(` + "[^ \t\"'`(){}\\[\\]:/=,]*" + `)["'\]]*$`)},
	// Objects.
	{members: "base64 subtype", ofMembers: binaryData},
	{members: "type data", ofMembers: bytesOfType},
	{members: "_bsontype data", ofMembers: bytesOfType},
	{members: "0 1 2 3 4 5 6 7 8 9 10 11", ofMembers: bytesOfNumbers},
	{members: "timestamp machine process counter", ofMembers: integers(32, 24, 16, 24)},
	{members: "timesecond machine counter", ofMembers: integers(32, 32, 32)},
	{members: "timestamp date", ofMembers: timeAlone},
}

const (
	aByte = `-?[0-9][0-9a-fA-Fx]*` // a regular expression

	longestWord     = 150 // of the notations that are matched as a word
	longestNotation = 500
)

// inNotation returns the id in s, or "" if s is in no notation. A word that is in no other
// notation is returned as it is, although it need not be an id. The error says why the id in s
// cannot be known.
func inNotation(s string) (id string, err error) {
	if s = strings.Trim(s, "`"); s == "" || s[0] == '{' && !isMember(firstMember(s)) {
		return "", nil
	}
	if !strings.ContainsAny(s, " \t\r\n\"'`(){}[]<>:/=,\\") && !strings.HasPrefix(s, "0x") && !strings.HasPrefix(s, "0X") {
		return s, nil // a word alone
	}
	var members map[string]string
	for i := range notations {
		n := &notations[i]
		if n.word == nil && members == nil { // the rows with members come last
			if members = membersOf(s); members == nil {
				break
			}
		}
		if values := valuesOf(members, n.members); values != nil {
			return n.ofMembers(values)
		}
		if n.word == nil || len(s) > longestWord { // lines of logs are longer
			continue
		}
		if m := n.word.Get().FindStringSubmatch(s); m != nil && n.decode != nil {
			return n.decode(m[1]), nil
		} else if m != nil {
			return m[1], nil
		}
	}
	return "", nil
}

// aMember matches a member of an object in JSON, in JavaScript or in the output of PHP.
var aMember = pattern.Of(`["']?([$\w]+)["']?\s*:\s*("[^"]*"|'[^']*'|<[^<>]*>|\[[^\[\]]*\]|[^\s"'{}\[\](),]+)`)

// otherNames are other names of members.
var otherNames = map[string]string{
	"machineidentifier": "machine", "randomvalue1": "machine", "_machine": "machine", "processidentifier": "process", "randomvalue2": "process",
	"pid": "process", "increment": "counter", "inc": "counter", "_inc": "counter", "_time": "timesecond",
	"$binary": "base64", "$type": "subtype", "id": "data",
}

// members has the names of all members in the table, and their other names.
var members = sync.OnceValue(func() *memberNames {
	all := slices.AppendSeq([]string{"$oid oid $id $uuid $numberlong", moreMembers}, maps.Keys(otherNames)) // first those of words
	for _, n := range notations {
		all = append(all, n.members)
	}
	m := memberNames{names: map[string]bool{}}
	for name := range strings.FieldsSeq(strings.Join(all, " ")) {
		m.names[name] = true
		m.lengths[name[0]|' '] |= 1 << len(name)
	}
	return &m
})

// memberNames has names in lower case. Most names that it does not have are told by their first
// byte and their length, which is faster than by the map.
type memberNames struct {
	names   map[string]bool
	lengths [256]uint32 // a bit for each length of the names that begin with this byte
}

// isMember reports whether an object in a notation may have a member of this name.
func isMember(name string) bool {
	return name != "" && members().lengths[name[0]|' ']>>len(name)&1 == 1 && members().names[strings.ToLower(name)]
}

// moreMembers are members that an object may also have, and those that contain the others.
const moreMembers = " _bsontype buffer new _new time timesecond creationtime date "

// membersOf returns the members of the object s with their values, without quotes. Of each member
// that is an object it returns the members instead. The names are in lower case, and those that
// otherNames has are replaced. membersOf returns nil if s is no object in a notation.
func membersOf(s string) map[string]string {
	if len(s) > longestNotation || !strings.HasSuffix(s, "}") || !isMember(firstMember(s)) {
		return nil
	}
	members := map[string]string{}
	for m := aMember.Get().FindStringSubmatchIndex(s); m != nil; m = aMember.Get().FindStringSubmatchIndex(s) {
		name := strings.ToLower(s[m[2]:m[3]])
		if !isMember(name) {
			return nil
		}
		members[cmp.Or(otherNames[name], name)] = strings.Trim(s[m[4]:m[5]], `"'`)
		s = s[m[1]:]
	}
	return members
}

// firstMember returns the name of the first member of an object, or "" if s is none. The name of
// a type may stand before the object.
func firstMember(s string) string {
	from := strings.IndexByte(s, '{') + 1
	if from == 0 || from > 1 && strings.ContainsAny(s[:from-1], "\"',;:([") {
		return ""
	}
	for from < len(s) && (s[from] <= ' ' || s[from] == '"' || s[from] == '\'') {
		from++
	}
	to := from
	for to < len(s) && (is(s[to], inWord) || s[to] == '_' || s[to] == '$') {
		to++
	}
	return s[from:to]
}

// valuesOf returns the values of the members of an object that have these names. It returns nil if
// the object does not have all of them, or has others except those of moreMembers.
func valuesOf(members map[string]string, names string) (values []string) {
	for name := range strings.FieldsSeq(names) {
		value, ok := members[name]
		if !ok {
			return nil
		}
		values = append(values, value)
	}
	for name := range members {
		if !strings.Contains(" "+names+moreMembers, " "+name+" ") {
			return nil
		}
	}
	return values
}

// plausible returns the ObjectId with these bytes, or "" if it has no plausible time: twelve bytes
// may be anything. err is the error of what decoded the bytes.
func plausible(raw []byte, err error) string {
	id, wrong := objectid.FromBytes(raw)
	if err != nil || wrong != nil || Doubt(id, time.Now()) != "" {
		return ""
	}
	return id.String()
}

// inBase64 returns the ObjectId whose bytes s encodes in either alphabet of base64.
func inBase64(s string) string {
	if len(s) != base64.StdEncoding.EncodedLen(objectid.Size) {
		return ""
	}
	return plausible(base64.StdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(s)))
}

// bytesInHex returns the ObjectId whose bytes are the digits in s.
func bytesInHex(s string) string {
	return plausible(hex.DecodeString(strings.NewReplacer("<Buffer ", "", ">", "", " ", "", ":", "").Replace(s)))
}

// bytesInList returns the ObjectId whose bytes are the numbers in s. Java's bytes are signed.
func bytesInList(s string) string {
	var raw []byte
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("[], \t\r\n", r) }) {
		base := 10
		if digits, ok := strings.CutPrefix(word, "0x"); ok {
			word, base = digits, 16
		}
		n, err := strconv.ParseInt(word, base, 16)
		if err != nil || n < -128 || n > 255 {
			return ""
		}
		raw = append(raw, byte(n))
	}
	return plausible(raw, nil)
}

func bytesOfPython(s string) string {
	raw, err := strconv.Unquote(`"` + strings.NewReplacer(`\'`, "'", `"`, `\"`).Replace(s) + `"`)
	return plausible([]byte(raw), err)
}

func bytesOfNumbers(values []string) (string, error) {
	return bytesInList(strings.Join(values, ",")), nil
}

// bytesOfType returns the ObjectId with the type and the bytes in values.
func bytesOfType(values []string) (string, error) {
	if values[0] != "Buffer" && !strings.EqualFold(values[0], "ObjectId") {
		return "", nil
	}
	return cmp.Or(bytesInHex(values[1]), bytesInList(values[1])), nil
}

// binaryData returns the UUID or ObjectId in binary data of a subtype.
func binaryData(values []string) (string, error) {
	raw, _ := base64.StdEncoding.DecodeString(values[0]) // in other text, fewer bytes
	if id, err := uuid.FromBytes(raw); err == nil && strings.TrimLeft(values[1], "0") == "4" {
		return id.String(), nil
	}
	if id, err := objectid.FromBytes(raw); err == nil {
		return id.String(), nil
	}
	return "", nil
}

// integers returns a function that makes an ObjectId of integers with these numbers of bits. Java's
// integers are signed.
func integers(bits ...int) func([]string) (string, error) {
	return func(values []string) (string, error) {
		var id strings.Builder
		for i, n := range bits {
			value, err := strconv.ParseInt(values[i], 10, 64)
			if limit := int64(1) << n; err != nil || value >= limit || value < -limit/2 {
				return "", nil
			}
			fmt.Fprintf(&id, "%0*x", n/4, value&(1<<n-1))
		}
		return id.String(), nil
	}
}

// timeAlone returns the error for {timestamp, date}, as which Java 4 and Spring write an ObjectId.
func timeAlone(values []string) (string, error) {
	seconds, err := strconv.ParseUint(values[0], 10, 32)
	if err != nil {
		return "", nil
	}
	return "", fmt.Errorf("only the time of an ObjectId, %s: its other eight bytes are not there, so the program must write the id as text", time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339))
}
