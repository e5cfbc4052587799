package paste

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/objectid"
)

var (
	wordRows = pattern.Of(`[0-9A-Za-z]+`)
	listRows = pattern.Of(`[0-9a-fA-FxX ,:\-\t]+`)
	members  = pattern.Of(`(?:"?\bbase64"?\s*:|"\$binary"\s*:|\bBinData\(\s*\d{1,3}\s*,|\bcreateFromBase64\()\s*["']([0-9A-Za-z+/]{16})["']`)
	single   = pattern.Of(`\bb'((?:[^'\\\n]|\\.){12,48})'`)
	double   = pattern.Of(`\bb"((?:[^"\\\n]|\\.){12,48})"`)
)

// slowPlaces is [Places] without its shortcuts: regular expressions cut all of s into what
// may have an id.
func slowPlaces(s string) (places []Place) {
	for _, m := range wordRows().FindAllStringIndex(s, -1) {
		if begin := m[1] - 24; begin > m[0] && isHex(s[begin:m[1]]) && escape().MatchString(s[max(begin-longestEscape, 0):begin]) {
			m[0] = begin
		}
		if p, ok := wordID(s, m[0], m[1]); ok && (len(places) == 0 || places[len(places)-1].To <= p.From) {
			places = append(places, p)
		}
	}
	var raw []Place
	for _, m := range listRows().FindAllStringIndex(s, -1) {
		raw = numbers(raw, s, m[0], m[1])
	}
	for _, m := range members().FindAllStringSubmatchIndex(s, -1) {
		if b, err := base64.StdEncoding.DecodeString(s[m[2]:m[3]]); err == nil {
			raw = append(raw, Place{m[2], m[3], hex.EncodeToString(b)})
		}
	}
	for _, m := range append(single().FindAllStringSubmatchIndex(s, -1), double().FindAllStringSubmatchIndex(s, -1)...) {
		from, to := m[2], m[3]
		b, ok := unescape(s[from:to])
		if ok && len(b) == objectid.Size && plausible(b) && strings.Trim(b, letters) != "" {
			raw = append(raw, Place{from, to, hex.EncodeToString([]byte(b))})
		}
	}
	places = append(places, raw...)
	slices.SortFunc(places, func(a, b Place) int { return cmp.Compare(a.From, b.From) })
	end := 0
	return slices.DeleteFunc(places, func(p Place) bool {
		if p.From < end {
			return true
		}
		end = p.To
		return false
	})
}

// written are the pieces of generated lines: an id in each notation, and what looks like
// one at first.
var written = []func(r *rand.Rand, id objectid.ID) string{
	func(_ *rand.Rand, id objectid.ID) string { return id.String() },
	func(_ *rand.Rand, id objectid.ID) string { return strings.ToUpper(id.String()) },
	func(r *rand.Rand, id objectid.ID) string {
		before := []string{`\u003c`, `\n`, `\x`, "%3A", "0x", "x0x", "\x1b[1;31m", "\x1b[m", "\x1b[0000031m", "31m", "ab", "x", "-", "_", "5759e988-", "1-5759e988-", "db01-", "é"}
		return before[r.IntN(len(before))] + id.String()
	},
	func(r *rand.Rand, id objectid.ID) string { return id.String() + "0123456789abcdef"[:r.IntN(17)] },
	func(_ *rand.Rand, id objectid.ID) string { return hex.EncodeToString(slices.Concat(id[:], id[:8])) },
	func(_ *rand.Rand, id objectid.ID) string {
		h := id.String() + "01234567"
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	},
	func(r *rand.Rand, _ objectid.ID) string {
		return []string{"01H455VB4PEX5VSKNK084SN02Q", "user_01h455vb4pex5vsknk084sn02q", "01h455vb4pex5vsknk084sn02q", "order-user_01h455vb4pex5vsknk084sn02q"}[r.IntN(4)]
	},
	func(r *rand.Rand, _ objectid.ID) string {
		return []string{"10.0.0.7:8080:1795166651598985:4711", "[fe80::ab]:0:1795166651598985:1", "1.1.1.1:1:1795166651598985:123456789012", "a:1795166651598985:4711"}[r.IntN(4)]
	},
	func(r *rand.Rand, id objectid.ID) string {
		format := []string{"%02x", "%02X", "%#x", "%d"}[r.IntN(4)]
		separator := []string{" ", ", ", ",", ":", "-", "  ", "\t"}[r.IntN(7)]
		words := make([]string, 0, 13)
		for _, b := range id[:12-r.IntN(8)/7] {
			words = append(words, fmt.Sprintf(format, b))
		}
		around := []string{"[|]", "{|}", "<Buffer |>", "|", "00000000: |", "([ | ])"}[r.IntN(6)]
		return strings.Replace(around, "|", strings.Join(words, separator), 1)
	},
	func(_ *rand.Rand, id objectid.ID) string {
		h := id.String()
		return "00000000: " + h[:4] + " " + h[4:8] + " " + h[8:12] + " " + h[12:16] + " " + h[16:20] + " " + h[20:] + "            P..w..l..C.."
	},
	func(r *rand.Rand, id objectid.ID) string {
		before := []string{`"base64":"`, `base64: '`, `{"$binary" : "`, `BinData( 0, "`, `createFromBase64('`, `"base65":"`, `"host":"`, `xbase64:"`}[r.IntN(8)]
		return before + base64.StdEncoding.EncodeToString(id[:]) + []string{`"`, "'", ""}[r.IntN(3)]
	},
	func(r *rand.Rand, id objectid.ID) string {
		var b strings.Builder
		for _, c := range id {
			if c < ' ' || c > '~' || c == '\'' || c == '"' || c == '\\' {
				fmt.Fprintf(&b, `\x%02x`, c)
			} else {
				b.WriteByte(c)
			}
		}
		return []string{"b'", `b"`, "ab'", "_b'", `x b"`}[r.IntN(5)] + b.String() + []string{"'", `"`}[r.IntN(2)]
	},
	func(r *rand.Rand, _ objectid.ID) string {
		return []string{"GET /api/v1/orders HTTP/1.1", "2026-11-20 12:00:00,123", "10.0.0.7:8080", "deadbeef-cafe", `{"level":"info","b":"x","verb":"GET"}`, "a b c d e f 1 2 3 4", "----------------------------", "b'", `"`}[r.IntN(9)]
	},
}

// TestFastAndSlow finds the same in generated logs with and without the shortcuts.
func TestFastAndSlow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	span := uint32(time.Since(era.First)/time.Second) - 1
	separators := []string{" ", " ", "\n", "", ",", "=", "\"", "/", ": ", "_", "-"}
	ids := 0
	for range 2000 {
		var text strings.Builder
		for range 1 + r.IntN(40) {
			var id objectid.ID
			binary.BigEndian.PutUint64(id[4:], r.Uint64())
			binary.BigEndian.PutUint32(id[:], uint32(era.First.Unix())+r.Uint32N(span))
			text.WriteString(written[r.IntN(len(written))](r, id))
			text.WriteString(separators[r.IntN(len(separators))])
		}
		got, want := Places(text.String()), slowPlaces(text.String())
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\nfast %+v\nslow %+v", text.String(), got, want)
		}
		ids += len(got)
	}
	if ids < 10_000 {
		t.Errorf("the logs have %d ids, want more", ids)
	}
}
