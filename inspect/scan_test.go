package inspect_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/testenv"
)

const (
	a = "507f1f77bcf86cd799439011"
	b = "5e4fa350b636f733a15d6f62"
	u = "c232ab00-9414-11ec-b3c8-9f6bdeced846"
)

// scan returns what is found in text, each on a line: its line, and the id or
// "!" with the error.
func scan(r io.Reader) string {
	var out strings.Builder
	for f, err := range inspect.Scan(r) {
		if err != nil {
			fmt.Fprintf(&out, "%d!%v\n", f.Line, err)
		} else {
			fmt.Fprintf(&out, "%d %s\n", f.Line, f.Text)
		}
	}
	return out.String()
}

func TestScan(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n \n\t\r\n", ""},
		{"bare", a, "1 " + a + "\n"},
		{"one per line", a + "\n" + b + "\r\n\n" + u + "\n", "1 " + a + "\n2 " + b + "\n4 " + u + "\n"},
		{"upper case", strings.ToUpper(a), "1 " + strings.ToUpper(a) + "\n"},
		{"byte order mark", "\ufeff" + a, "1 " + a + "\n"},
		{"double quotes", `"` + a + `",`, "1 " + a + "\n"},
		{"single quotes", `'` + a + `';`, "1 " + a + "\n"},
		{"backticks", "`" + a + "`", "1 " + a + "\n"},
		{"shell", `ObjectId("` + a + `")`, "1 " + a + "\n"},
		{"shell, new", `new ObjectId('` + a + `'),`, "1 " + a + "\n"},
		{"CSV of mongoexport", `ObjectId(` + a + `)`, "1 " + a + "\n"},
		{"Go driver", `ObjectID("` + a + `")`, "1 " + a + "\n"},
		{"Python", `bson.objectid.ObjectId('` + a + `')`, "1 " + a + "\n"},
		{"shell, UUID", `UUID("` + u + `")`, "1 " + u + "\n"},
		{"shell, bad", `ObjectId("xyz")`, "1 xyz\n"},
		{"Extended JSON", `{"$oid":"` + a + `"}`, "1 " + a + "\n"},
		{"Extended JSON, spaces", ` { "$oid" : "` + a + `" } , `, "1 " + a + "\n"},
		{"Extended JSON, bad", `{"$oid":"xyz"}`, "1 xyz\n"},
		{"Extended JSON, cut off by a copy", `"$oid": "` + a + `"`, "1 " + a + "\n"},
		{"UUID in braces", "{" + u + "}", "1 " + u + "\n"},
		{"UUID as URN", "urn:uuid:" + u, "1 " + u + "\n"},
		{"JSON lines", `{"_id":{"$oid":"` + a + `"},"ref":{"$oid":"` + b + `"}}` + "\n" + `{"x":1,"_id":{"$oid":"` + b + `"}}` + "\n", "1 " + a + "\n2 " + b + "\n"},
		{"_id of a string", `{ "_id" : "ac3", "name" : "x" }`, "1 ac3\n"},
		{"_id of a number", `{"_id":42}`, `1!inspect: member "_id": "42" is not an id` + "\n"},
		{"_id of null", `{"_id":null}`, `1!inspect: member "_id": "null" is not an id` + "\n"},
		{"_id with another wrapper", `{"_id":{"$date":"12"}}`, `1!inspect: member "_id": "{\"$date\":\"12\"}" is not an id` + "\n"},
		{"_id of a long number", `{"_id":175928847299117063}`, "1 175928847299117063\n"},
		{"_id of a long number, canonical", `{"_id":{"$numberLong":"175928847299117063"}}`, "1 175928847299117063\n"},
		{"_id of a binary UUID", `{"_id":{"$binary":{"base64":"wjKrAJQUEeyzyJ9r3s7YRg==","subType":"04"}}}`, "1 " + u + "\n"},
		{"_id of other bytes", `{"_id":{"$binary":{"base64":"wjKrAJQUEeyzyJ9r3s7YRg==","subType":"00"}}}`, `1!inspect: member "_id": "{\"$binary\":{\"base64\":\"wjKrAJQUEeyzyJ9r3s7YRg==\",\"subType\":\"0"... is not an id` + "\n"},
		{"id of a log line", `{"id":51803,"attr":{"filter":{"_id":{"$oid":"` + a + `"}}}}`, "1 " + a + "\n"},
		{"id of a request", `{"id":"req-17","msg":"order ` + a + ` failed"}`, "1 " + a + "\n"},
		{"id that is none", `{"id":51803}`, `1!inspect: member "id": "51803" is not an id` + "\n"},
		{"array cut off", "[\n{\"_id\":{\"$oid\":\"" + a + "\"}},\n", "2 " + a + "\n3!inspect: an array begins but does not end: the text is cut off\n"},
		{"array of strings cut off", `["` + a + `",`, "1 " + a + "\n1!inspect: an array begins but does not end: the text is cut off\n"},
		{"brackets of a log", "[2026-11-20] " + a + "\n[2026-11-20] [x] " + b + "\n", "1 " + a + "\n2 " + b + "\n"},
		{"colours", "\x1b[31mERROR\x1b[0m order \x1b[1m" + a + "\x1b[0m failed", "1 " + a + "\n"},
		{"underscore", "job order_" + a + "_1 failed", "1 " + a + "\n"},
		{"escaped in a URL", "GET /x?q=a%3A" + a + "%20" + b, "1 " + a + "\n1 " + b + "\n"},
		{"end of a sentence", a + ".", "1 " + a + "\n"},
		{"file name", "order-" + a + ".json", "1 " + a + "\n"},
		{"in angles", "<" + a + ">", "1 " + a + "\n"},
		{"bytes of PostgreSQL", `\x` + a, "1 " + a + "\n"},
		{"bytes of SQL", `X'` + a + `'`, "1 " + a + "\n"},
		{"number in hexadecimal", "0x" + a, "1 " + a + "\n"},
		{"base64", "UH8fd7z4bNeZQ5AR\nawAt+4u/8ApR/7u/\nawAt-4u_8ApR_7u_\n", "1 507f1f77bcf86cd799439011\n2 6b002dfb8bbff00a51ffbbbf\n3 6b002dfb8bbff00a51ffbbbf\n"},
		{"base64 by chance", "Zoologicalgarden", "1 Zoologicalgarden\n"}, // of 2024
		{"base64 of another time", "AH8fd7z4bNeZQ5AR", "1 AH8fd7z4bNeZQ5AR\n"},
		{"neighbours", a + "/" + b + "/" + a, "1 " + a + "\n1 " + b + "\n1 " + a + "\n"},
		{"_id of a UUID", `{"_id":{"$uuid":"` + u + `"}}`, "1 " + u + "\n"},
		{"id", `{"id":"` + a + `","time":"x"}`, "1 " + a + "\n"},
		{"no _id", `{"name":"x"}`, `1!inspect: a document without "_id": "{\"name\":\"x\"}"` + "\n"},
		{"a reference", `{"user":{"$oid":"` + a + `"}}`, "1 " + a + "\n"},
		{"nested _id first", `{"n":{"_id":{"$oid":"` + b + `"}},"_id":{"$oid":"` + a + `"}}`, "1 " + a + "\n"},
		{"escapes", `{"_id":{"$oid":"\u0035` + a[1:] + `"}}`, "1 " + a + "\n"},
		{"braces in strings", `{"a":"}{\"","_id":{"$oid":"` + a + `"}}`, "1 " + a + "\n"},
		{"array of documents", `[{"_id":{"$oid":"` + a + `"}},{"_id":{"$oid":"` + b + `"}}]`, "1 " + a + "\n1 " + b + "\n"},
		{"array of strings", `["` + a + `","` + b + `", "bad"]`, "1 " + a + "\n1 " + b + "\n1 bad\n"},
		{"pretty", "[\n  {\n    \"_id\": {\n      \"$oid\": \"" + a + "\"\n    }\n  },\n  {\n    \"_id\": \"" + b + "\"\n  }\n]\n", "2 " + a + "\n7 " + b + "\n"},
		{"shell's output", "[\n  {\n    _id: ObjectId('" + a + "'),\n    name: 'it\\'s'\n  },\n  { ref: ObjectId('" + a + "'), _id: ObjectId('" + b + "') }\n]\n", "2 " + a + "\n6 " + b + "\n"},
		{"list on a line", a + ", " + b + " " + u, "1 " + a + "\n1 " + b + "\n1 " + u + "\n"},
		{"list of TypeIDs and gpids", "user_01h455vb4pex5vsknk084sn02q, 10.0.0.7:8080:1795166651598985:4711", "1 user_01h455vb4pex5vsknk084sn02q\n1 10.0.0.7:8080:1795166651598985:4711\n"},
		{"list with a bad one", a + " " + b[:23] + "x", "1 " + a + "\n1 " + b[:23] + "x\n"},
		{"log", "2026-11-20T12:00:00Z user=" + a + " order=" + b + " GET /u/" + u + "?x HTTP/1.1", "1 " + a + "\n1 " + b + "\n1 " + u + "\n"},
		{"log that begins with quotes", `"GET /u/` + a + ` HTTP/1.1" 200`, "1 " + a + "\n"},
		{"longer runs of digits", "sha1 " + a + "00112233445566aa", `1!inspect: no id in "sha1 ` + a + `00112233445566aa"` + "\n"},
		{"a word of 8 letters before", "request1 -> " + a + " failed", "1 " + a + "\n"},
		{"words of 14 characters", "abcdefghijklmn abcdefghijklmn", `1!inspect: no id in "abcdefghijklmn abcdefghijklmn"` + "\n"},
		{"words of 15 and 36", "abcdefghijklmno xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "1 abcdefghijklmno\n1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"},
		{"words of 37", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", `1!inspect: no id in "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx xxxxxxxxxxxxxxxxxxxxxx"...` + "\n"},
		{"60 characters without an id", "nothing to see here, " + strings.Repeat("an ", 12) + "and", `1!inspect: no id in "nothing to see here, ` + strings.Repeat("an ", 12) + `and"` + "\n"},
		{"16 bytes as SQL writes them", "x'" + strings.ReplaceAll(u, "-", "") + "'", "1 " + strings.ReplaceAll(u, "-", "") + "\n"},
		{"_id of a number of 14 digits", `{"_id":17592884729911}`, `1!inspect: member "_id": "17592884729911" is not an id` + "\n"},
		{"_id of a number of 15 digits", `{"_id":175928847299117}`, "1 175928847299117\n"},
		{"prose", "nothing to see here", `1!inspect: no id in "nothing to see here"` + "\n"},
		{"a word", "hello\n" + a, "1 hello\n2 " + a + "\n"},
		{"document cut off", `{"_id":{"$oid":"` + a + `"},"n":` + "\n" + `{"_id":{"$oid":"` + b + `"}}`, `1!inspect: a document begins but does not end before the next: "{\"_id\":{\"$oid\":\"` + a + `\"},\"n\":"` + "\n2 " + b + "\n"},
		{"stray brace", "{ oops\n" + a + "\n" + b + "\n", "1!inspect: a document begins but does not end; reading line by line from here\n1!inspect: no id in \"{ oops\"\n2 " + a + "\n3 " + b + "\n"},
		{"apostrophe", "{ it's\n}\n" + a, `1!inspect: neither JSON nor a document with an id: "{ it's\n}"` + "\n3 " + a + "\n"},
		{"binary", "\x00\xff\xfe\n" + a, "1 \x00\xff\xfe\n2 " + a + "\n"},
	} {
		for reader, r := range map[string]io.Reader{
			"whole":    strings.NewReader(c.text),
			"bytewise": iotest.OneByteReader(strings.NewReader(c.text)),
			"data+EOF": iotest.DataErrReader(strings.NewReader(c.text)),
		} {
			if got := scan(r); got != c.want {
				t.Errorf("%s (%s):\n%sgot\n%swant\n%s", c.name, reader, c.text+"\n", got, c.want)
			}
		}
	}
}

// A list of bytes that does not end is not read as one line with all that follows it.
func TestScanOfAnOpenList(t *testing.T) {
	if got := scan(strings.NewReader("Array [\n" + strings.Repeat("no,\n", 300) + a)); !strings.HasSuffix(got, "\n302 "+a+"\n") {
		t.Errorf("got %s", got)
	}
}

func TestScanTellsWhatItStripped(t *testing.T) {
	long := strings.Repeat("é", 50)
	for _, c := range []struct{ text, before, after string }{
		{a, "", ""},
		{a + "\n", "", ""},
		{`ObjectId("` + a + `"),`, `ObjectId("`, `"),`},
		{`{"_id":{"$oid":"` + a + `"}}`, `{"_id":{"$oid":"`, `"}}`},
		{"user=" + a + " ok", "user=", " ok"},
		{long[:78] + " " + a + " " + long[:78], long[:78] + " ", " " + long[:78]},
		{long + " " + a + " " + long, "..." + long[:78] + " ", " " + long[:78] + "..."},
	} {
		for f := range inspect.Scan(strings.NewReader(c.text)) {
			if f.Text != a || f.Before != c.before || f.After != c.after {
				t.Errorf("%s: %q before %q, %q after", c.text, f.Before, f.Text, f.After)
			}
		}
	}
}

func TestScanReportsReadErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	got := scan(io.MultiReader(strings.NewReader(a+"\n"+b), iotest.ErrReader(broken)))
	if want := "1 " + a + "\n2 " + b + "\n2!inspect: read: the disk is gone\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestScanStops(t *testing.T) {
	n := 0
	for range inspect.Scan(strings.NewReader(a + "\n" + b + "\n")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d ids after break", n)
	}
}

// A text without an end must not be held whole, whatever it consists of.
func TestScanIsBounded(t *testing.T) {
	testenv.WithoutRace(t)
	for _, c := range []struct {
		text string
		size int64
	}{{"x", 3 << 20}, {`"`, 3 << 20}, {"{}", 1 << 16}, {"{ ", 70 << 20}} {
		for f, err := range inspect.Scan(io.LimitReader(repeat(c.text), c.size)) {
			if len(f.Text) > 1<<20 || err != nil && len(err.Error()) > 1000 {
				t.Errorf("%q over and over: %d characters, error of %d", c.text, len(f.Text), len(err.Error()))
			}
		}
	}
}

// TestNeighbours scans an id directly before a hexadecimal digit, and before others.
func TestNeighbours(t *testing.T) {
	for _, c := range "09AZaz/:@[`{" {
		text := "log " + a + string(c) + " end"
		want := "1 " + a + "\n"
		if strings.ContainsRune("09Aa", c) {
			want = fmt.Sprintf("1!inspect: no id in %q\n", text)
		}
		if got := scan(strings.NewReader(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestLongestLine scans an id that ends where the longest line does, and one that
// ends a byte later.
func TestLongestLine(t *testing.T) {
	for before, want := range map[int]int{1<<20 - len(a): 1, 1<<20 - len(a) + 1: 2} {
		pieces, ids := 0, 0
		for f := range inspect.Scan(strings.NewReader(strings.Repeat("-", before) + a)) {
			if pieces++; f.Text == a {
				ids++
			}
		}
		if pieces != want || ids != 2-want {
			t.Errorf("an id after %d bytes: %d pieces, %d ids", before, pieces, ids)
		}
	}
}

type repeat string

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r[i%len(r)]
	}
	return len(p), nil
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{a, `{"_id":{"$oid":"` + a + `"}}`, `[{"a":"}\""},{"_id":1}]`, "{\n{\n\"", "'x\n{'", `ObjectId("` + a} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, bytewise := scan(bytes.NewReader(text)), scan(iotest.OneByteReader(bytes.NewReader(text)))
		if whole != bytewise {
			t.Fatalf("read at once:\n%s\nread byte by byte:\n%s", whole, bytewise)
		}
		line := 1
		for found, err := range inspect.Scan(bytes.NewReader(text)) {
			if err == nil && found.Text == "" {
				t.Fatalf("found %+v", found)
			}
			if found.Line < line || found.Line > 1+bytes.Count(text, []byte("\n")) {
				t.Fatalf("found %+v after line %d of %q", found, line, text)
			}
			line = found.Line
		}
	})
}
