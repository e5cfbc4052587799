package inspect

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestExamples reads the examples of each notation: alone, and as the _id of a document.
func TestExamples(t *testing.T) {
	for i, n := range notations {
		if len(n.examples) == 0 || (n.word == nil) == (n.members == "") {
			t.Fatalf("row %d of inspect/notations.go needs examples, and word or members", i)
		}
		for _, example := range n.examples {
			want := anID
			switch {
			case strings.Contains(example, "UUID") || strings.Contains(example, "$uuid") || strings.Contains(example, `"04"`):
				want = aUUID
			case strings.Contains(example, "$numberLong"):
				want = "175928847299117063"
			case n.members == "timestamp date":
				want = "!" + "inspect: only the time of an ObjectId, 2012-10-17T21:13:27Z: its other eight bytes are not there, so the program must write the id as text"
			}
			texts := []string{example, "  " + example + ",\n"}
			if value := example; strings.IndexByte(`{["`, value[0]) >= 0 && !strings.HasPrefix(value, `"$oid"`) {
				texts = append(texts, `{"n":1,"_id":`+value+`}`, `{"_id":`+value+`}`)
			}
			if !strings.Contains(example, "=>") && !strings.HasPrefix(example, `"$oid"`) && example[0] != '`' {
				texts = append(texts, "{ _id: "+example+", n: 1 }", "{ n: 1, _id: "+example+" }", "{\n  _id: "+example+",\n  n: 1\n}")
			}
			for _, text := range texts {
				var got []string
				for found, err := range Scan(strings.NewReader(text)) {
					switch {
					case err == nil:
						got = append(got, strings.ToLower(found.Text))
					case !errors.Is(err, ErrNoID):
						got = append(got, "!"+strings.Replace(err.Error(), `member "_id": `, "", 1))
					}
				}
				if len(got) != 1 || got[0] != want {
					t.Errorf("%q: %q, want %s", text, got, want)
				}
			}
			if id, ok := ParseObjectID(example); ok != (want == anID) || ok && id.String() != want {
				t.Errorf("ParseObjectID(%q) = %v, %v", example, id, ok)
			}
		}
	}
}

// TestNotationsPage finds the examples of notations and escapes on the page, whose rows a test of
// cmd/oid reads with the command and with the server.
func TestNotationsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/notations.md")
	if err != nil {
		t.Fatal(err)
	}
	var examples []string
	for _, n := range notations {
		examples = append(examples, n.examples...)
	}
	for _, e := range escapes {
		examples = append(examples, strings.ReplaceAll(e.example, "\x1b", "ESC")+anID)
	}
	for _, example := range examples {
		if !strings.ContainsAny(example, "`\n") && !strings.Contains(string(page), "\n| `"+example+"` |") {
			t.Errorf("docs/reference/notations.md has no row of %s", example)
		}
	}
}
