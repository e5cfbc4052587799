package objectid_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

func TestParseRoundTrip(t *testing.T) {
	for _, v := range vectors {
		for _, s := range []string{v.hex, strings.ToUpper(v.hex)} {
			id, err := objectid.Parse(s)
			if err != nil {
				t.Errorf("Parse(%q): %v", s, err)
			}
			if got := id.String(); got != v.hex {
				t.Errorf("Parse(%q).String() = %q, want %q", s, got, v.hex)
			}
		}
	}
}

// Every byte value at every position, against the definition of a digit.
func TestParseEveryByte(t *testing.T) {
	const valid = "507f1f77bcf86cd799439011"
	for i := range len(valid) {
		for c := range 256 {
			b := []byte(valid)
			b[i] = byte(c)
			_, err := objectid.Parse(string(b))
			isDigit := strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) && c < 0x80
			if (err == nil) != isDigit {
				t.Fatalf("Parse(%q): error %v", b, err)
			}
		}
	}
}

// badTexts are texts that are no id, with what the error has to say of them.
var badTexts = []struct{ text, want string }{
	{"", `want 24 characters, not 0: ""`},
	{"6592", `want 24 characters, not 4: "6592"`},
	{"hello world!", `want 24 characters, not 12: "hello world!"`},
	{"507f1f77bcf86cd79943901", `want 24 characters, not 23`},
	{"507f1f77bcf86cd7994390111", `want 24 characters, not 25`},
	{"507f1f77bcf86cd79943901g", `character 24 is 'g', want a hexadecimal digit: "507f1f77bcf86cd79943901g"`},
	{"x07f1f77bcf86cd799439011", `character 1 is 'x'`},
	{" 507f1f77bcf86cd79943901", `character 1 is ' '`},
	{"507f1f77bcf86cd79943901\n", `character 24 is '\n'`},
	{"507f1f77\x00cf86cd799439011", `character 9 is '\x00'`},
	{"507f1f77bcf86cd7994390\xff1", `character 23 is '�'`},
	{"507f1f77bcf86cd79943é011", `character 21 is 'é'`},
	{"507f1f77bcf86cd7994390é", `want 24 characters, not 23`},
	{"٥07f1f77bcf86cd799439011", `character 1 is '٥'`},
	{"-07f1f77bcf86cd799439011", `character 1 is '-'`},
	{"0x7f1f77bcf86cd799439011", `character 2 is 'x'`},
	{`ObjectId("507f1f77bcf86cd799439011")`, `want 24 characters, not 36`},
	{strings.Repeat("ab", 4096), `want 24 characters, not 8192: "` + strings.Repeat("ab", 32) + `"...`},
}

func TestTextRefusesWhatIsNoID(t *testing.T) {
	for _, c := range badTexts {
		id := objectid.ID{1, 2, 3}
		_, parseErr := objectid.Parse(c.text)
		for name, err := range map[string]error{
			"Parse":         parseErr,
			"UnmarshalText": id.UnmarshalText([]byte(c.text)),
			"Set":           id.Set(c.text),
			"Scan":          id.Scan(c.text),
		} {
			if !errors.Is(err, objectid.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s(%.40q): %v, want ErrInvalid with %q", name, c.text, err, c.want)
			}
		}
		if id != (objectid.ID{1, 2, 3}) {
			t.Errorf("%.40q changed the target to %v", c.text, id)
		}
	}
}

func TestMustParsePanics(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, objectid.ErrInvalid) {
			t.Errorf("panic with %v, want ErrInvalid", err)
		}
	}()
	objectid.MustParse("short")
}

func TestAppendTextAppends(t *testing.T) {
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	for _, room := range []int{0, 1, 23, 24, 100} {
		b := append(make([]byte, 0, 3+room), "id="...)
		got, err := id.AppendText(b)
		if want := "id=507f1f77bcf86cd799439011"; string(got) != want || err != nil {
			t.Errorf("room for %d: %q, %v, want %q", room, got, err, want)
		}
	}
}

func TestFormat(t *testing.T) {
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	for _, c := range []struct{ format, want string }{
		{"%s", "507f1f77bcf86cd799439011"},
		{"%v", "507f1f77bcf86cd799439011"},
		{"%+v", "507f1f77bcf86cd799439011"},
		{"%x", "507f1f77bcf86cd799439011"},
		{"%X", "507F1F77BCF86CD799439011"},
		{"%#x", "0x507f1f77bcf86cd799439011"},
		{"% x", "50 7f 1f 77 bc f8 6c d7 99 43 90 11"},
		{"%q", `"507f1f77bcf86cd799439011"`},
		{"%#v", `ObjectId("507f1f77bcf86cd799439011")`},
		{"%26s|", "  507f1f77bcf86cd799439011|"},
		{"%-26v|", "507f1f77bcf86cd799439011  |"},
		{"%.8s", "507f1f77"},
		{"%d", "%!d(objectid.ID=507f1f77bcf86cd799439011)"},
	} {
		if got := fmt.Sprintf(c.format, id); got != c.want {
			t.Errorf("Sprintf(%q) = %q, want %q", c.format, got, c.want)
		}
	}
	if got := fmt.Sprint(&id, []objectid.ID{id}); got != "507f1f77bcf86cd799439011 [507f1f77bcf86cd799439011]" {
		t.Errorf("Sprint(&id, []ID{id}) = %q", got)
	}
}

func TestFlag(t *testing.T) {
	var id, other objectid.ID
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Var(&id, "id", "an id")
	f.TextVar(&other, "other", objectid.ID{}, "another")
	if err := f.Parse([]string{"-id", "507f1f77bcf86cd799439011", "-other", "4e7020cb7cac81af7136236b"}); err != nil {
		t.Fatal(err)
	}
	if id.String() != "507f1f77bcf86cd799439011" || other.String() != "4e7020cb7cac81af7136236b" {
		t.Errorf("flags read %v and %v", id, other)
	}
	if err := f.Parse([]string{"-id", "nothing"}); err == nil || id.String() != "507f1f77bcf86cd799439011" {
		t.Errorf("a bad flag: error %v, id %v", err, id)
	}
}

func TestXML(t *testing.T) {
	type doc struct {
		ID objectid.ID `xml:"id,attr"`
	}
	in := doc{objectid.New()}
	b, err := xml.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out doc
	if err := xml.Unmarshal(b, &out); err != nil || out != in {
		t.Errorf("%s came back as %v, %v", b, out, err)
	}
	if err := xml.Unmarshal([]byte(`<doc id=""/>`), &out); !errors.Is(err, objectid.ErrInvalid) {
		t.Errorf("an empty attribute: %v, want ErrInvalid", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range vectors {
		f.Add(v.hex)
	}
	for _, c := range badTexts {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target := objectid.ID{9}
		id, err := objectid.Parse(s)
		textErr := target.UnmarshalText([]byte(s))
		switch {
		case (err == nil) != (textErr == nil):
			t.Fatalf("Parse says %v, UnmarshalText %v", err, textErr)
		case err == nil && (id != target || id.String() != strings.ToLower(s) || len(s) != 24):
			t.Fatalf("%q read as %v and %v", s, id, target)
		case err != nil && (!errors.Is(err, objectid.ErrInvalid) || target != objectid.ID{9} || !id.IsZero()):
			t.Fatalf("%q: %v left %v and %v", s, err, id, target)
		}
	})
}

func FuzzTextRoundTrip(f *testing.F) {
	f.Add([]byte("abcdefghijkl"))
	f.Fuzz(func(t *testing.T, b []byte) {
		id, err := objectid.FromBytes(b)
		if (err == nil) != (len(b) == objectid.Size) {
			t.Fatalf("FromBytes(%x): %v", b, err)
		}
		if got, want := id.String(), fmt.Sprintf("%x", id[:]); got != want {
			t.Fatalf("String() = %q, want %q", got, want)
		}
		if back := objectid.MustParse(id.String()); back != id {
			t.Fatalf("%v came back as %v", id, back)
		}
	})
}

// The character that an error names is the first that is not a digit: those at the
// borders of the digits' ranges are none of it.
func TestErrorNamesTheFirstWrongCharacter(t *testing.T) {
	for _, wrong := range []string{"/", ":", "@", "G", "`", "g"} {
		_, err := objectid.Parse("09afAF09afAF09afAF09afA" + wrong)
		if err == nil || !strings.Contains(err.Error(), "character 24 is") {
			t.Errorf("%q: %v, want an error that names character 24", wrong, err)
		}
	}
}
