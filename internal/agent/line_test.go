package agent

import (
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

const id = "6b04b97ece07d30d5790a4df"

func TestParseLine(t *testing.T) {
	for _, test := range []struct {
		text string
		want Line
	}{
		{"oid1 " + id, Line{}},
		{"oid1 " + strings.ToUpper(id) + "\r", Line{}},
		{"  oid1\t" + id + "  name=shop ", Line{Name: "shop"}},
		{"oid1 " + id + " version=1.2+b%20c addr=10.0.0.7:8080 name=my%20shop%25 layout=java", Line{Name: "my shop%", Version: "1.2+b c", Addr: "10.0.0.7:8080", Layout: objectid.Java}},
		{"oid1 " + id + " addr=[::1]:80 name=a=b", Line{Name: "a=b", Addr: "[::1]:80"}},
		{"oid1 " + id + " name=" + strings.Repeat("x", maxText), Line{Name: strings.Repeat("x", maxText)}},
	} {
		test.want.ID = objectid.MustParse(id)
		if got, err := ParseLine(test.text); err != nil || got != test.want {
			t.Errorf("%q: %+v, %v; want %+v", test.text, got, err, test.want)
		}
	}
}

func TestParseLineSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "begins with",
		"GET / HTTP/1.1":                  `begins with "GET": want "oid1 ID"`,
		"oid2 " + id:                      `begins with "oid2"`,
		"oid1":                            "id is missing",
		"oid1 abc":                        `"abc" is not an id`,
		"oid1 " + id + " shop":            `"shop": want key=value`,
		"oid1 " + id + " pid=1":           "unknown key",
		"oid1 " + id + " name=a name=b":   "each key once",
		"oid1 " + id + " name=":           "printable",
		"oid1 " + id + " name=a%0ab":      "printable",
		"oid1 " + id + " name=%ff":        "printable",
		"oid1 " + id + " name=a%e2%80%8b": "printable",
		"oid1 " + id + " name=%zz":        "invalid URL escape",
		"oid1 " + id + " addr=host:80":    "want ip:port",
		"oid1 " + id + " layout=new":      "no such layout",
		"oid1 " + id + " \xff":            "not UTF-8",
		"oid1 " + id + " version=" + strings.Repeat("x", maxText+1): "200 bytes",
	} {
		if got, err := ParseLine(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

// No line breaks the parser, what it accepts is within bounds, and an error is one line.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{"oid1 " + id + " name=a%20b version=1 addr=:80 layout=classic", "", "oid1", "oid1 x", "\x00", "oid1 " + id + " =", "oid1 " + id + " name=%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLine(text)
		if err != nil {
			if answer := failure(err); strings.Count(answer, "\n") != 1 || !strings.HasSuffix(answer, "\n") {
				t.Errorf("%q: answer %q", text, answer)
			}
			return
		}
		if len(l.Name) > maxText || len(l.Version) > maxText || strings.ContainsAny(l.Name+l.Version+l.Addr, "\n\r\x00") {
			t.Errorf("%q: %+v", text, l)
		}
	})
}
