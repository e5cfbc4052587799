package paste

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/objectid"
)

var (
	// base64Member is twelve bytes in Extended JSON, of both versions, and in the
	// notation of the MongoDB shell.
	base64Member = pattern(`(?:"?\bbase64"?\s*:|"\$binary"\s*:|\bBinData\(\s*\d{1,3}\s*,|\bcreateFromBase64\()\s*["']([0-9A-Za-z+/]{16})["']`)

	// pythonBytes is a literal of bytes in Python.
	pythonBytes = pattern(`\bb(?:'((?:[^'\\\n]|\\.){12,48})'|"((?:[^"\\\n]|\\.){12,48})")`)

	// proseWord is a word that is base64 by chance.
	proseWord = pattern(`^(?:[A-Za-z][a-z]+|[A-Z]+|[0-9]+)$`)
)

// rawBytes returns the ids in s that are written as twelve bytes.
func rawBytes(s string) []Place {
	places := byteLists(s)
	if strings.Contains(s, "ase64") || strings.Contains(s, `"$binary"`) || strings.Contains(s, "BinData(") {
		for _, m := range base64Member().FindAllStringSubmatchIndex(s, -1) {
			if raw, err := base64.StdEncoding.DecodeString(s[m[2]:m[3]]); err == nil {
				places = append(places, Place{m[2], m[3], hex.EncodeToString(raw)})
			}
		}
	}
	if strings.Contains(s, "b'") || strings.Contains(s, `b"`) {
		for _, m := range pythonBytes().FindAllStringSubmatchIndex(s, -1) {
			from, to := max(m[2], m[4]), max(m[3], m[5])
			raw, ok := unescape(s[from:to])
			if ok && len(raw) == objectid.Size && plausible(raw) && strings.Trim(raw, letters) != "" {
				places = append(places, Place{from, to, hex.EncodeToString([]byte(raw))})
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
		for _, p := range byteLists(before + s) {
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
