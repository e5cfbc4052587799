package inspect

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// The id of the examples, which is the one of MongoDB's documentation, and a UUID.
const (
	anID     = "507f1f77bcf86cd799439011"
	aUUID    = "c232ab00-9414-11ec-b3c8-9f6bdeced846"
	hexBytes = "50 7f 1f 77 bc f8 6c d7 99 43 90 11"
)

// examples returns the notations on the page, whose rows a test of cmd/oid reads with the command
// and with the server, and what they are read as.
func examples(t *testing.T) map[string]string {
	page, err := os.ReadFile("../docs/reference/notations.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"`" + anID + "`": anID, "[507f1f77bcf86cd799439011]": anID,
		"Uint8Array(12) [\n   80, 127, 31, 119, 188,\n  248, 108, 215, 153,  67,\n  144,  17\n]": anID,
	}
	notations, _, _ := strings.Cut(string(page), "## Escapes")
	for _, row := range strings.Split(notations, "\n| `")[1:] {
		cells := strings.Split(row, " | ")
		all[strings.TrimSuffix(cells[0], "`")] = strings.Trim(cells[1], "`")
	}
	return all
}

// TestExamples reads the examples of each notation: alone, and as the _id of a document. Each row
// of the table is necessary for one of them.
func TestExamples(t *testing.T) {
	necessary := map[int]bool{}
	for example, want := range examples(t) {
		if want == "the time alone" {
			want = "!" + "inspect: only the time of an ObjectId, 2012-10-17T21:13:27Z: its other eight bytes are not there, so the program must write the id as text"
		}
		texts := []string{example, "  " + example + ",\n"}
		if value := example; strings.IndexByte(`{["`, value[0]) >= 0 && !strings.HasPrefix(value, `"$oid"`) {
			texts = append(texts, `{"n":1,"_id":`+value+`}`, `{"_id":`+value+`}`)
		}
		if !strings.Contains(example, "=>") && !strings.HasPrefix(example, `"$oid"`) && example[0] != '`' && example != "UH8fd7z4bNeZQ5AR" {
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
		if id, ok := ParseObjectID(example); ok != (want == anID && example != "UH8fd7z4bNeZQ5AR") || ok && id.String() != want {
			t.Errorf("ParseObjectID(%q) = %v, %v", example, id, ok)
		}
		for i, n := range notations {
			id, err := inNotation(example)
			notations[i] = notation{}
			if without, wrong := inNotation(example); without != id || (wrong == nil) != (err == nil) {
				necessary[i] = true
			}
			notations[i] = n
		}
	}
	for i := range notations {
		if !necessary[i] {
			t.Errorf("row %d of inspect/notations.go has no example in docs/reference/notations.md", i)
		}
	}
}

// TestEscapesPage finds the examples of escapes on the page.
func TestEscapesPage(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/notations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range escapes {
		if example := strings.ReplaceAll(e.example, "\x1b", "ESC") + anID; !strings.Contains(string(page), "\n| `"+example+"` |") {
			t.Errorf("docs/reference/notations.md has no row of %s", example)
		}
	}
}
