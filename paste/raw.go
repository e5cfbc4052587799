package paste

import (
	"encoding/base64"
	"encoding/hex"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/objectid"
)

var (
	// base64Before precedes twelve bytes in Extended JSON, of both versions, and in the
	// notation of the MongoDB shell.
	base64Before = pattern(`(?:\bbase64"?\s*:|"\$binary"\s*:|\bBinData\(\s*\d{1,3}\s*,|\bcreateFromBase64\()\s*$`)

	// pythonBytes is a literal of bytes in Python.
	pythonBytes = pattern(`^b(?:'((?:[^'\\\n]|\\.){12,48})'|"((?:[^"\\\n]|\\.){12,48})")`)

	// proseWord is a word that is base64 by chance.
	proseWord = pattern(`^(?:[A-Za-z][a-z]+|[A-Z]+|[0-9]+)$`)
)

const (
	base64Size     = 16  // of twelve bytes
	longestMember  = 100 // before base64
	longestLiteral = 250 // of Python: 48 characters with a backslash
)

// quotedBytes returns the ids in s that are written as twelve bytes in quotes.
func quotedBytes(s string) (places []Place) {
	literalEnd := 0
	for at := range quotes(s) {
		if at > literalEnd && s[at-1] == 'b' && (at == 1 || s[at-2] != '_' && !is(s[at-2], inWord)) {
			if m := pythonBytes().FindStringSubmatchIndex(s[at-1 : min(at+longestLiteral, len(s))]); m != nil {
				from, to := at-1+max(m[2], m[4]), at-1+max(m[3], m[5])
				literalEnd = to + 1
				raw, ok := unescape(s[from:to])
				if ok && len(raw) == objectid.Size && plausible(raw) && strings.Trim(raw, letters) != "" {
					places = append(places, Place{from, to, hex.EncodeToString([]byte(raw))})
				}
			}
		}
		from, to := at+1, at+1+base64Size
		if to >= len(s) || s[to] != '"' && s[to] != '\'' {
			continue
		}
		before := s[max(at-longestMember, 0):at]
		if !strings.Contains(before, "ase64") && !strings.Contains(before, "$binary") && !strings.Contains(before, "BinData(") {
			continue
		}
		if raw, err := base64.StdEncoding.DecodeString(s[from:to]); err == nil && len(raw) == objectid.Size && base64Before().MatchString(before) {
			places = append(places, Place{from, to, hex.EncodeToString(raw)})
		}
	}
	return places
}

// quotes yields the places of quotes in s.
func quotes(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		next := func(quote string, from int) int {
			if i := strings.Index(s[from:], quote); i >= 0 {
				return from + i
			}
			return len(s)
		}
		double, single := next(`"`, 0), next("'", 0)
		for double+single < 2*len(s) {
			if double < single {
				yield(double)
				double = next(`"`, double+1)
			} else {
				yield(single)
				single = next("'", single+1)
			}
		}
	}
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
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch at := strings.IndexByte(`\'"abfnrtv`, s[i]); {
		case at >= 0:
			b.WriteByte("\\'\"\a\b\f\n\r\t\v"[at])
		case s[i] == 'x' && i+2 < len(s):
			n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return "", false
			}
			b.WriteByte(byte(n))
			i += 2
		default:
			return "", false
		}
	}
	return b.String(), true
}
