package paste

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/objectid"
)

var (
	// base64Before precedes twelve bytes in Extended JSON, of both versions, and in the
	// notation of the MongoDB shell.
	base64Before = pattern.Of(`(?:\bbase64"?\s*:|"\$binary"\s*:|\bBinData\(\s*\d{1,3}\s*,|\bcreateFromBase64\()\s*$`)

	// pythonBytes is a literal of bytes in Python.
	pythonBytes = pattern.Of(`^b(?:'((?:[^'\\\n]|\\.){12,48})'|"((?:[^"\\\n]|\\.){12,48})")`)

	// proseWord is a word that is base64 by chance.
	proseWord = pattern.Of(`^(?:[A-Za-z][a-z]+|[A-Z]+|[0-9]+)$`)
)

const (
	base64Size     = 16  // of twelve bytes
	longestMember  = 100 // before base64
	longestLiteral = 250 // of Python: 48 characters with a backslash
)

// quotedBytes returns the ids in s that are written as twelve bytes in quotes.
func quotedBytes(s string) (places []Place) {
	for _, quote := range []byte{'"', '\''} {
		literalEnd := 0
		for i, at := strings.IndexByte(s, quote), 0; i >= 0; i = strings.IndexByte(s[at:], quote) {
			at += i + 1
			if at-1 > literalEnd && s[at-2] == 'b' && (at == 2 || s[at-3] != '_' && !is(s[at-3], inWord)) {
				if m := pythonBytes().FindString(s[at-2 : min(at+longestLiteral, len(s))]); m != "" {
					literal := m[2 : len(m)-1]
					literalEnd = at + len(literal)
					raw, ok := unescape(literal)
					if ok && len(raw) == objectid.Size && plausible(raw) && strings.Trim(raw, letters) != "" {
						places = append(places, Place{at, literalEnd, hex.EncodeToString([]byte(raw))})
					}
				}
			}
			to := at + base64Size
			if to >= len(s) || s[to] != '"' && s[to] != '\'' {
				continue
			}
			before := s[max(at-longestMember, 0) : at-1]
			if !strings.Contains(before, "ase64") && !strings.Contains(before, "$binary") && !strings.Contains(before, "BinData(") {
				continue
			}
			if raw, err := base64.StdEncoding.DecodeString(s[at:to]); err == nil && len(raw) == objectid.Size && base64Before().MatchString(before) {
				places = append(places, Place{at, to, hex.EncodeToString(raw)})
			}
		}
	}
	return places
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz _-"

// bytesAlone returns the digits of the id that s is as twelve bytes in base64 or in
// a list of numbers, or "". Such bytes must have the time of a plausible id.
func bytesAlone(s string) string {
	if len(s) == 16 && !proseWord().MatchString(s) {
		alphabet := base64.StdEncoding
		if strings.ContainsAny(s, "-_") {
			alphabet = base64.URLEncoding
		}
		if raw, err := alphabet.DecodeString(s); err == nil && plausible(string(raw)) {
			return hex.EncodeToString(raw)
		}
	}
	for _, before := range []string{"", "["} { // a bracket may have been read before
		_, lists := search(before + s)
		for _, p := range lists {
			if p.From == len(before) && strings.Trim(s[p.To-len(before):], " ,\t]}") == "" {
				return p.ID
			}
		}
	}
	return ""
}

// plausible reports whether an id of these bytes has a time at which ids existed.
func plausible(raw string) bool {
	id, err := objectid.FromBytes([]byte(raw))
	return err == nil && !id.Time().Before(era.First) && !era.IsFuture(id.Time(), time.Now())
}

// unescape decodes the escapes in a literal of bytes in Python.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for ; s != ""; s = s[1:] {
		c := s[0]
		if c == '\\' {
			if s = s[1:]; s == "" || strings.IndexByte(`\'"abfnrtvx`, s[0]) < 0 {
				return "", false
			}
			if c = s[0]; c != '\'' && c != '"' {
				r, _, after, err := strconv.UnquoteChar(`\`+s, 0)
				if err != nil {
					return "", false
				}
				c, s = byte(r), s[len(s)-len(after)-1:]
			}
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
