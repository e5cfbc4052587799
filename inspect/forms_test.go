package inspect_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
)

// utf16Text is s as Windows PowerShell writes it.
func utf16Text(s string) string {
	b := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return string(b)
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
	"document with bytes": func(id objectid.ID) string {
		return `{"_id":{"$binary":{"base64":"` + base64.StdEncoding.EncodeToString(id[:]) + `","subType":"00"}}}`
	},
	"UTF-16": func(id objectid.ID) string { return utf16Text("Größe " + id.String() + "\r\n") },
}

// found returns the ids that Scan finds in a text, and its errors but those about
// text in which no id is expected.
func found(text string) (ids []string) {
	for f, err := range inspect.Scan(strings.NewReader(text)) {
		switch {
		case errors.Is(err, inspect.ErrNoID):
		case err != nil:
			ids = append(ids, err.Error())
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
		f.Add(id[:])
	}
	f.Add(make([]byte, 12))
	f.Fuzz(func(t *testing.T, raw []byte) {
		id, err := objectid.FromBytes(raw)
		if err != nil {
			return
		}
		for name, write := range notations {
			if got := found(write(id)); !slices.Equal(got, []string{id.String()}) {
				t.Errorf("%s: %q: found %q", name, write(id), got)
			}
			if name == "UTF-16" || name == "document with bytes" || strings.Contains(name, "array over") {
				continue // not within a line
			}
			line := "2026-11-20 12:00:00,123 [main] 10.0.0.7:8080 " + write(id) + " took 0.25 s"
			if got := found(line); !slices.Equal(got, []string{id.String()}) {
				t.Errorf("%s: %q: found %q", name, line, got)
			}
		}
	})
}

// TestFindRefuses reads texts that are one thing off a notation.
func TestFindRefuses(t *testing.T) {
	for _, text := range []string{
		a + "0", "u003c" + a, "a" + a, `\x2` + a, "%2" + a, "0" + a,
		"User_01h455vb4pex5vsknk084sn02q", "01h455vb4pex5vsknk084sn02q",
		"c232ab00-9414-11ec-b3c8-9f6bdeced84", "0c232ab00-9414-11ec-b3c8-9f6bdeced846",
		"5759e988-" + a, "1-5759e988-" + a, "{5759E988-" + a + "}", "trace 550e8400-e29b-41d4-a716-" + a,
		"a:1795166651598985:4711", "10.0.0.7:8080:179516665159898:4711",
	} {
		if got := inspect.Find(text); got != nil {
			t.Errorf("Find(%q) = %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"backup-20261103-" + a + ".gz": a, "deadbeef-" + a: a, "db01-" + a: a, "x5759e988-" + a: a, a + "-5759e988": a,
		"user_01h455vb4pex5vsknk084sn02q ok":                        "user_01h455vb4pex5vsknk084sn02q",
		"from 10.0.0.7:8080:1795166651598985:4711, to [::1]:80 ...": "10.0.0.7:8080:1795166651598985:4711",
		"gpid=[2001:db8::1]:0:1795166651598985:1":                   "[2001:db8::1]:0:1795166651598985:1",
	} {
		if got := inspect.Find("at " + text); len(got) != 1 || ("at " + text)[got[0].Start:got[0].End] != want {
			t.Errorf("Find(%q) = %+v, want %s", text, got, want)
		}
	}
	two := "10.0.0.7:8080:1795166651598985:4711"
	if got := inspect.Find(two + " " + two); len(got) != 2 || got[1].Start != len(two)+1 {
		t.Errorf("two gpids: %+v", got)
	}
}

// FuzzFind holds the search that looks at one byte in three to one that looks at
// each.
func FuzzFind(f *testing.F) {
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
		for _, p := range inspect.Find(text) {
			if p.Start < end || p.End <= p.Start || p.End > len(text) {
				t.Fatalf("Find(%q): %+v after %d", text, p, end)
			}
			end = p.End
			delete(want, p.Start)
		}
		if len(want) > 0 {
			t.Errorf("Find(%q) misses the ids at %v", text, want)
		}
	})
}

// TestOrderOfNotations finds ids in several notations in the order of the text.
func TestOrderOfNotations(t *testing.T) {
	text := `{"timestamp":1350508407,"counter":4427793,"randomValue1":12384364,"randomValue2":-10343} ` + b +
		` {"timestamp":1350508408,"machineIdentifier":12384364,"processIdentifier":-10343,"counter":4427793} <Buffer 50 7f 1f 79 bc f8 6c d7 99 43 90 11> ` +
		`{"timestamp":1350508410,"counter":4427793,"randomValue1":12384364,"randomValue2":-10343}`
	var got []string
	for _, m := range inspect.Find(text) {
		got = append(got, m.ID)
	}
	if want := []string{a, b, "507f1f78" + a[8:], "507f1f79" + a[8:], "507f1f7a" + a[8:]}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNotationsAlone finds one id in a text with a notation.
func TestNotationsAlone(t *testing.T) {
	members := `{"timestamp":1350508407,"counter":4427793,"randomValue1":12384364,"randomValue2":-10343,"time":"` + b + `","date":"` + b + `"}`
	for _, notation := range []string{"<Buffer 50 7f 1f 77 bc f8 6c d7 99 43 90 11>", members} {
		text := "order " + notation + " failed"
		if got := inspect.Find(text); len(got) != 1 || got[0] != (inspect.Match{Start: 6, End: 6 + len(notation), ID: a}) {
			t.Errorf("Find(%q) = %+v", text, got)
		}
	}
}

// TestNumbersThatAreNoBytes reads lists of twelve numbers of which one is one beyond the range of
// a byte in its program.
func TestNumbersThatAreNoBytes(t *testing.T) {
	for number, want := range map[string]bool{"17": true, "-1": true, "255": true, "-128": true, "256": false, "-129": false, "273": false, "-239": false} {
		if _, ok := inspect.ParseObjectID("[80,127,31,119,188,248,108,215,153,67,144," + number + "]"); ok != want {
			t.Errorf("a list with the number %s is an id: %v, want %v", number, ok, want)
		}
	}
}

// TestDocumentsThatAreNoIDs reads documents with the members of a notation and other values.
func TestDocumentsThatAreNoIDs(t *testing.T) {
	for _, text := range []string{
		`{"type":"line","data":[80,127,31,119,188,248,108,215,153,67,144,17]}`,
		`{"type":"Buffer","data":[80,127,31,119,188,248,108,215,153,67,144]}`,
		`{"type":"Buffer","data":[80,127,31,119,188,248,108,215,153,67,144,17],"n":1}`,
		`{"timestamp":1350508407,"counter":4427793,"date":"2012-10-17"}`,
		`{"timestamp":1350508407,"machineIdentifier":16777216,"processIdentifier":1,"counter":1}`,
		`{"timestamp":1350508407,"machineIdentifier":1,"processIdentifier":-32769,"counter":1}`,
		`{ n: { _id: 5 }, m: [ { _id: 6 } ] }`,
	} {
		if got := found(text); got != nil {
			t.Errorf("Scan(%s): %q", text, got)
		}
	}
	for text, want := range map[string]string{
		`{ ref: { _id: ObjectId('` + a + `') }, "_id" : ObjectId("` + b + `") }`: b,
		`{ name: "}, _id: 7", 'it\'s': 1, _id: "` + b + `", ref: "` + a + `" }`:  b,
		`{ _id : '` + b + `' }`: b,
	} {
		if got := found(text); !slices.Equal(got, []string{want}) {
			t.Errorf("Scan(%s): %q, want %s", text, got, want)
		}
	}
}

// TestQuietLines finds the ids of texts of which most lines have none.
func TestQuietLines(t *testing.T) {
	for _, text := range []string{
		"---\ntitle: orders\n---\n# Orders\n\nThe order " + a + " failed.\n",
		"2026-11-20 started\n{\"level\":\"info\",\"msg\":\"ready\"}\n{\"id\":51803,\"c\":\"NETWORK\"}\n2026-11-20 order=" + a + "\n",
		"oops { not closed\n{ oops\n" + a + "\n",
	} {
		for f, err := range inspect.Scan(strings.NewReader(text)) {
			if err != nil && !errors.Is(err, inspect.ErrNoID) {
				t.Errorf("%q: %v", text, err)
			}
			if err == nil && strings.ContainsAny(f.Text, "0123456789") && f.Text != a {
				t.Errorf("%q: found %s", text, f.Text)
			}
		}
		var got []inspect.Found
		for f, err := range inspect.FindAll(strings.NewReader(text)) {
			if got = append(got, f); err != nil {
				t.Errorf("FindAll(%q): %v", text, err)
			}
		}
		if len(got) != 1 || got[0].Text != a || got[0].Line < 2 {
			t.Errorf("FindAll(%q) = %+v", text, got)
		}
	}
	for f, err := range inspect.Scan(strings.NewReader("{\"_id\":42}")) {
		if err == nil || errors.Is(err, inspect.ErrNoID) {
			t.Errorf("an _id that is none: %+v, %v", f, err)
		}
	}
}
