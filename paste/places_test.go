package paste_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/oidkit/oid/internal/era"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/paste"
)

// spaced returns the bytes of id, each by format, with a separator.
func spaced(id objectid.ID, format, separator string) string {
	var words []string
	for _, b := range id {
		words = append(words, fmt.Sprintf(format, b))
	}
	return strings.Join(words, separator)
}

// pythonRepr is the id as Python prints bytes.
func pythonRepr(id objectid.ID) string {
	var b strings.Builder
	for _, c := range id {
		switch {
		case c == '\\', c == '\'':
			b.WriteString(`\` + string(rune(c)))
		case c == '\n', c == '\r', c == '\t':
			b.WriteString(strings.Trim(fmt.Sprintf("%q", rune(c)), "'"))
		case c < ' ', c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "b'" + b.String() + "'"
}

// utf16Text is s as Windows PowerShell writes it.
func utf16Text(s string) string {
	b := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return string(b)
}

// signed is the id as Java prints bytes.
func signed(id objectid.ID) string {
	var words []string
	for _, b := range id {
		words = append(words, fmt.Sprint(int8(b)))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// notations write an id as programs do.
var notations = map[string]func(id objectid.ID) string{
	"bare":              objectid.ID.String,
	"array of mongosh":  func(id objectid.ID) string { return "[ ObjectId('" + id.String() + "') ]" },
	"array over lines":  func(id objectid.ID) string { return "[\n  ObjectId('" + id.String() + "')\n]\n" },
	"document":          func(id objectid.ID) string { return `{"n":1,"_id":{"$oid":"` + id.String() + `"}}` },
	"shell's document":  func(id objectid.ID) string { return "{ _id: ObjectId('" + id.String() + "'), n: [ 1, 2 ] }" },
	"escaped character": func(id objectid.ID) string { return `{"msg":"order \u003c` + id.String() + `\u003e failed"}` },
	"escaped line end":  func(id objectid.ID) string { return `{"msg":"order\n` + id.String() + `\tfailed"}` },
	"URL":               func(id objectid.ID) string { return "GET /?id%3D" + id.String() + "%26x HTTP/1.1" },
	"colours":           func(id objectid.ID) string { return "order \x1b[1;31m" + id.String() + "\x1b[0m failed" },
	"SQL":               func(id objectid.ID) string { return "WHERE id = x'" + id.String() + "' AND n = 0" },
	"number":            func(id objectid.ID) string { return "id=0x" + id.String() + " n=1" },
	"Extended JSON": func(id objectid.ID) string {
		return `{"$binary":{"base64":"` + base64.StdEncoding.EncodeToString(id[:]) + `","subType":"00"}}`
	},
	"Extended JSON, old": func(id objectid.ID) string {
		return `{"x":{"$binary":"` + base64.StdEncoding.EncodeToString(id[:]) + `","$type":"00"}}`
	},
	"document with bytes": func(id objectid.ID) string {
		return `{"_id":{"$binary":{"base64":"` + base64.StdEncoding.EncodeToString(id[:]) + `","subType":"00"}}}`
	},
	"BinData": func(id objectid.ID) string {
		return `found BinData(0, "` + base64.StdEncoding.EncodeToString(id[:]) + `") there`
	},
	"base64":         func(id objectid.ID) string { return base64.StdEncoding.EncodeToString(id[:]) },
	"base64 of URLs": func(id objectid.ID) string { return `"` + base64.URLEncoding.EncodeToString(id[:]) + `",` },
	"Node.js":        func(id objectid.ID) string { return "_id: <Buffer " + spaced(id, "%02x", " ") + ">" },
	"Go, %#v":        func(id objectid.ID) string { return "main.T{ID:bson.ObjectID{" + spaced(id, "%#x", ", ") + "}, N:1}" },
	"Go, %v":         func(id objectid.ID) string { return "{" + spaced(id, "%d", " ") + "}" },
	"Go, %v, array":  func(id objectid.ID) string { return "id=[" + spaced(id, "%d", " ") + "] n=1" },
	"typed array":    func(id objectid.ID) string { return "Uint8Array(12) [ " + spaced(id, "%d", ", ") + " ]" },
	"list alone":     func(id objectid.ID) string { return "[ " + spaced(id, "%d", ", ") + " ]" },
	"Java":           signed,
	"Python":         func(id objectid.ID) string { return "Binary(" + pythonRepr(id) + ", 0)" },
	"xxd": func(id objectid.ID) string {
		h := id.String()
		return "00000000: " + h[:4] + " " + h[4:8] + " " + h[8:12] + " " + h[12:16] + " " + h[16:20] + " " + h[20:] + "            P..w..l..C.."
	},
	"hexdump -C": func(id objectid.ID) string {
		all := spaced(id, "%02x", " ")
		return "00000000  " + all[:23] + "  " + all[24:] + "              |abcdef012345|\n0000000c\n"
	},
	"od":         func(id objectid.ID) string { return "0000000 " + spaced(id, "%02x", " ") + "\n0000014\n" },
	"with colon": func(id objectid.ID) string { return "id " + spaced(id, "%02X", ":") + " ok" },
	"with minus": func(id objectid.ID) string { return spaced(id, "%02X", "-") },
	"UTF-16":     func(id objectid.ID) string { return utf16Text("Größe " + id.String() + "\r\n") },
}

// found returns the ids that Scan finds in a text, and its errors but those about
// text in which no id is expected. An offset in a dump is such a text.
func found(text string) (ids []string) {
	for f := range paste.ScanString(text) {
		switch {
		case errors.Is(f.Err, paste.ErrNoID), strings.HasPrefix(f.Text, "00000"):
		case f.Err != nil:
			ids = append(ids, f.Err.Error())
		default:
			ids = append(ids, strings.ToLower(f.Text))
		}
	}
	return ids
}

// FuzzNotations wraps an id in every notation and finds it exactly once, alone and
// on a line of a log.
func FuzzNotations(f *testing.F) {
	for range 50 {
		id := objectid.New()
		f.Add(id[:], uint32(0))
	}
	f.Add([]byte("\\'\n\r\tabcdef "), uint32(1))
	f.Add(make([]byte, 12), uint32(1<<31))
	f.Fuzz(func(t *testing.T, raw []byte, age uint32) {
		id, err := objectid.FromBytes(raw)
		if err != nil {
			return
		}
		// A time at which ids existed, and not the letters of a word, in base64 neither:
		// there the last is a digit or a sign.
		span := uint32(time.Since(era.First)/time.Second) - 1
		binary.BigEndian.PutUint32(id[:], uint32(era.First.Unix())+age%span)
		id[11] |= 0xbd
		for name, write := range notations {
			if got := found(write(id)); !slices.Equal(got, []string{id.String()}) {
				t.Errorf("%s: %q: found %q", name, write(id), got)
			}
			if name == "UTF-16" || strings.HasPrefix(name, "base64") || strings.Contains(name, "array over") || name == "list alone" ||
				name == "hexdump -C" || name == "od" || name == "xxd" {
				continue // not within a line
			}
			line := "2026-11-20 12:00:00,123 [main] 10.0.0.7:8080 " + write(id) + " took 0.25 s"
			if got := found(line); !slices.Equal(got, []string{id.String()}) {
				t.Errorf("%s: %q: found %q", name, line, got)
			}
		}
	})
}

// TestPlacesRefuses reads texts that are one thing off a notation.
func TestPlacesRefuses(t *testing.T) {
	id := objectid.MustParse(a)
	old := objectid.At(era.First.Add(-time.Second))
	for _, text := range []string{
		a + "0", "x" + a, "u003c" + a, "z0x" + a,
		"<Buffer " + spaced(id, "%02x", " ")[3:] + ">", "<Buffer " + spaced(id, "%02x", " ") + " 00>",
		"ObjectID{" + spaced(id, "%#x", ", ")[6:] + "}", "ObjectID{0x1, " + spaced(id, "%#x", ", ") + "}",
		"[80, 127, 31, 119, 188, 248, 108, 215, 153, 67, 144, 256]", "(80, 127, 31, 119, 188, 248, 108, 215, 153, 67, 144, -129)",
		"a 80, 127, 31, 119, 188, 248, 108, 215, 153, 67, 144, 17 z",
		"id=[" + spaced(old, "%d", " ") + "]", "ids " + spaced(old, "%02x", ":") + ".",
		"00000000: 507f 1f77 bcf8 6cd7 9943            P..w..l..C", "00000000: 507f 1f77 bcf8 6cd7 9943 9011 0000            P..w..l..C....",
		"x b'Rheumatology' z", `x b'P\x7f\x1fw\xbc\xf8l\xd7\x99C\x90' z`, `x b'P\x7f\x1fw\xbc\xf8l\xd7\x99C\x90\xzz' z`,
		`"base65":"UH8fd7z4bNeZQ5AR"`, `"base64":"UH8fd7z4bNeZQ5A"`,
		"User_01h455vb4pex5vsknk084sn02q", "01h455vb4pex5vsknk084sn02q",
		"c232ab00-9414-11ec-b3c8-9f6bdeced84", "0c232ab00-9414-11ec-b3c8-9f6bdeced846",
		"5759e988-" + a, "1-5759e988-" + a, "{5759E988-" + a + "}", "trace 550e8400-e29b-41d4-a716-" + a,
		"a:1795166651598985:4711", "10.0.0.7:8080:179516665159898:4711",
	} {
		if got := paste.Places(text); got != nil {
			t.Errorf("Places(%q) = %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"backup-20261103-" + a + ".gz": a, "deadbeef-" + a: a, "db01-" + a: a, "x5759e988-" + a: a, a + "-5759e988": a,
		"user_01h455vb4pex5vsknk084sn02q ok":                        "user_01h455vb4pex5vsknk084sn02q",
		"from 10.0.0.7:8080:1795166651598985:4711, to [::1]:80 ...": "10.0.0.7:8080:1795166651598985:4711",
		"gpid=[2001:db8::1]:0:1795166651598985:1":                   "[2001:db8::1]:0:1795166651598985:1",
	} {
		if got := paste.Places("at " + text); len(got) != 1 || got[0].ID != want || ("at " + text)[got[0].From:got[0].To] != want {
			t.Errorf("Places(%q) = %+v, want %s", text, got, want)
		}
	}
	two := "10.0.0.7:8080:1795166651598985:4711"
	if got := paste.Places(two + " " + two); len(got) != 2 || got[1].From != len(two)+1 {
		t.Errorf("two gpids: %+v", got)
	}
}

// FuzzPlaces holds the search that looks at one byte in twelve to one that looks at
// each.
func FuzzPlaces(f *testing.F) {
	f.Add("x " + a + " " + u + "," + b)
	f.Add(strings.Repeat("-", 23) + a)
	guid := regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4})*-$`) // may begin one
	f.Fuzz(func(t *testing.T, text string) {
		want := map[int]bool{}
		isDigit := func(i int) bool {
			return i >= 0 && i < len(text) && strings.ContainsRune("0123456789abcdefABCDEF", rune(text[i]))
		}
		isWord := func(i int) bool {
			return i >= 0 && i < len(text) && strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", rune(text[i]))
		}
		for i := range text {
			n := 0
			for isDigit(i + n) {
				n++
			}
			if n == 24 && !isWord(i-1) && !isWord(i+24) && !guid.MatchString(text[:i]) {
				want[i] = true
			}
		}
		end := 0
		for _, p := range paste.Places(text) {
			if p.From < end || p.To <= p.From || p.To > len(text) || p.ID == "" {
				t.Fatalf("Places(%q): %+v after %d", text, p, end)
			}
			end = p.To
			delete(want, p.From)
		}
		if len(want) > 0 {
			t.Errorf("Places(%q) misses the ids at %v", text, want)
		}
	})
}

// TestQuietLines finds the ids of texts of which most lines have none.
func TestQuietLines(t *testing.T) {
	for _, text := range []string{
		"---\ntitle: orders\n---\n# Orders\n\nThe order " + a + " failed.\n",
		"2026-11-20 started\n{\"level\":\"info\",\"msg\":\"ready\"}\n{\"id\":51803,\"c\":\"NETWORK\"}\n2026-11-20 order=" + a + "\n",
		"oops { not closed\n{ oops\n" + a + "\n",
	} {
		for f := range paste.ScanString(text) {
			if f.Err != nil && !errors.Is(f.Err, paste.ErrNoID) {
				t.Errorf("%q: %v", text, f.Err)
			}
			if f.Err == nil && strings.ContainsAny(f.Text, "0123456789") && f.Text != a {
				t.Errorf("%q: found %s", text, f.Text)
			}
		}
		if got := slices.Collect(paste.Grep(strings.NewReader(text))); len(got) != 1 || got[0].Text != a || got[0].Line < 2 {
			t.Errorf("Grep(%q) = %+v", text, got)
		}
	}
	for f := range paste.ScanString("{\"_id\":42}") {
		if f.Err == nil || errors.Is(f.Err, paste.ErrNoID) {
			t.Errorf("an _id that is none: %+v", f)
		}
	}
}
