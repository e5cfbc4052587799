package inspect

import (
	"slices"
	"strings"
	"testing"
)

func objectIDsIn(text string) []Match { return AppendObjectIDs(nil, text) }

// TestEscapes finds an id directly behind the example of each escape, and not without its row.
func TestEscapes(t *testing.T) {
	const id = "507f1f77bcf86cd799439011"
	for i := range escapes {
		e := escapes[i]
		text := "order" + e.example + id + " failed"
		want := []Match{{len("order" + e.example), len("order"+e.example) + len(id), id}}
		if got := Find(text); !slices.Equal(got, want) {
			t.Errorf("Find(%q) = %+v", text, got)
		}
		if got := objectIDsIn(text); !slices.Equal(got, want) {
			t.Errorf("AppendObjectIDs(%q) = %+v", text, got)
		}
		escapes[i] = escape{before: "there is no such text", digits: 1}
		if got := Find(text); got != nil {
			t.Errorf("%q is found without its row: %+v", text, got)
		}
		escapes[i] = e
	}
}

// TestBoundaries finds ids behind and before what programs write around them, which needs no
// row of escapes.
func TestBoundaries(t *testing.T) {
	const id = "507f1f77bcf86cd799439011"
	for _, around := range [][2]string{
		{`\n`, `\n`},
		{`\\n`, `\\n`},
		{`\"`, `\"`},
		{`\\\"`, `\\\"`},
		{`\/`, `\/`},
		{`\t`, `\r`},
		{`\u{22}`, `\u{22}`},
		{"&quot;", "&quot;"},
		{"&#34;", "&#34;"},
		{"&#x22;", "&#x22;"},
		{"&amp;quot;", "&amp;"},
		{"%20", "%20"},
		{"+", "+"},
		{"\x1b[31m", "\x1b[0m"},
		{"\x1b[38;5;12m", "\x1b[m"},
		{`\u001b[1;31m`, `\u001b[0m`},
		{`\x1b[33m`, `\x1b[39m`},
		{`\033[32m`, `\033[0m`},
		{`\e[1m`, `\e[0m`},
		{"^[[31m", "^[[0m"},
		{"#033[31m", "#033[0m"},
		{"[31m", "[0m"},
		{"\x1b[01;31m\x1b[K", "\x1b[m\x1b[K"},
		{"\x1b(B", "\x1b(0"},
		{`0x`, ""},
		{`\x`, ""},
		{"x'", "'"},
		{"X'", "'"},
		{"b'", "'"},
		{"p", "z"},
		{"#p", "{"},
		{"$", "$"},
		{"é", "é"},
		{"\x00", "\x00"},
		{"=20", "=20"},
	} {
		text := "order" + around[0] + id + around[1] + " failed"
		if got := Find(text); len(got) != 1 || got[0].ID != id || objectIDsIn(text)[0] != got[0] {
			t.Errorf("Find(%q) = %+v", text, got)
		}
	}
}

// TestSoftBreaks finds an id that a soft line break of quoted-printable divides anywhere.
func TestSoftBreaks(t *testing.T) {
	const id = "507f1f77bcf86cd799439011"
	for _, end := range []string{"=\n", "=\r\n"} {
		for n := 1; n < len(id); n++ {
			for _, before := range []string{"", "id=3D", "_id: ", `"`, "=3D=3D=3D=3D=3D"} {
				text := before + id[:n] + end + id[n:]
				want := []Match{{len(before), len(text), id}, {len(text) + 1, len(text) + 1 + len(id), id}}
				if got := Find(text + " " + id); !slices.Equal(got, want) || !slices.Equal(objectIDsIn(text+" "+id), want) {
					t.Errorf("Find(%q) = %+v", text+" "+id, got)
				}
				if !Continues(before + id[:n] + end) {
					t.Errorf("%q cannot continue", before+id[:n]+end)
				}
			}
		}
		for _, text := range []string{
			"507f1f77bcf86cd79943901" + end + "x1", "507f1f77bcf86cd799439011" + end + "a", "name" + end + id[1:], "507f" + end + end + "1f77bcf86cd799439011",
			"507f" + end + "1f77bcf86cd799439011a", "5759e988-507f1f77" + end + "bcf86cd799439011", "id=3D" + end + id,
		} {
			if got := Find(text); len(got) > 1 || len(got) == 1 && got[0].End-got[0].Start != len(id) {
				t.Errorf("Find(%q) = %+v", text, got)
			}
		}
		for _, text := range []string{"name" + end, "x=" + end, end, "507f\n", "507f=", strings.Repeat("a", 40) + end} {
			if Continues(text) {
				t.Errorf("%q cannot end within an id", text)
			}
		}
	}
}
