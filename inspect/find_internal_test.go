package inspect

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/objectid"
)

var wordRows, digitRows = pattern.Of(`[0-9A-Za-z]+`), pattern.Of(`[0-9a-fA-F]+`)

// slowFind is [Find] without its shortcuts: regular expressions cut all of s into what
// may have an id.
func slowFind(s string) (matches []Match) {
	for _, m := range wordRows.Get().FindAllStringIndex(s, -1) {
		before := len(matches)
		for _, d := range digitRows.Get().FindAllStringIndex(s[m[0]:m[1]], -1) {
			from, to := m[0]+d[0], m[0]+d[1]
			if id := idIn(s, from, to); id >= 0 {
				matches = append(matches, Match{id, to, s[id:to]})
			}
		}
		for _, f := range forms {
			if f.find == nil || f.length != m[1]-m[0] || len(matches) > before {
				continue
			}
			if f.word != nil && !f.word.Get().MatchString(s[m[0]:m[1]]) {
				continue
			}
			if p, ok := f.find(s, m[0], m[1]); ok && (len(matches) == 0 || matches[len(matches)-1].End <= p.Start) {
				matches = append(matches, p)
			}
		}
	}
	return matches
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
	func(r *rand.Rand, _ objectid.ID) string {
		return []string{"GET /api/v1/orders HTTP/1.1", "2026-11-20 12:00:00,123", "10.0.0.7:8080", "deadbeef-cafe", `{"level":"info","b":"x","verb":"GET"}`, "a b c d e f 1 2 3 4", "----------------------------", "b'", `"`}[r.IntN(9)]
	},
}

// TestFastAndSlow finds the same in generated logs with and without the shortcuts.
func TestFastAndSlow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	separators := []string{" ", " ", "\n", "", ",", "=", "\"", "/", ": ", "_", "-"}
	ids := 0
	for range 2000 {
		var text strings.Builder
		for range 1 + r.IntN(40) {
			var id objectid.ID
			binary.BigEndian.PutUint64(id[4:], r.Uint64())
			binary.BigEndian.PutUint32(id[:], r.Uint32())
			text.WriteString(written[r.IntN(len(written))](r, id))
			text.WriteString(separators[r.IntN(len(separators))])
		}
		got, want := Find(text.String()), slowFind(text.String())
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\nfast %+v\nslow %+v", text.String(), got, want)
		}
		ids += len(got)
	}
	if ids < 10_000 {
		t.Errorf("the logs have %d ids, want more", ids)
	}
}

// TestForms finds an example of each form in a text, at every offset from the windows.
func TestForms(t *testing.T) {
	examples := map[string]string{
		"ObjectId": anID, "UUID": aUUID, "ULID in capitals": "01H455VB4PEX5VSKNK084SN02Q", "TypeID": "user_01h455vb4pex5vsknk084sn02q", "gpid": "10.0.0.7:8080:1795166651598985:4711",
	}
	for _, f := range forms {
		id := examples[f.name]
		if id == "" {
			t.Errorf("form %s of inspect/forms.go has no example in this test", f.name)
		}
		for n := range window {
			before := strings.Repeat(".", n) + " /"
			if got := Find(before + id + "/"); len(got) != 1 || got[0] != (Match{len(before), len(before) + len(id), id}) {
				t.Errorf("form %s: Find(%q) = %+v", f.name, before+id, got)
			}
		}
	}
}
