package page

import (
	"cmp"
	_ "embed" // zh.po
	"fmt"
	"strconv"
	"strings"
	"sync"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Say returns a text of the page in the language of the site. A text that zh.po does not have
// stays English.
func (s *Site) Say(english string) string {
	if s.isChinese() {
		table, _ := chinese()
		return cmp.Or(table[english], english)
	}
	return english
}

func (s *Site) isChinese() bool { return strings.HasPrefix(s.Lang, "zh") }

// Prose translates a sentence as [Site.Say] does, and shows the parts in backquotes as code.
// The sentence, in either language, is a format of package fmt for values.
func (s *Site) Prose(english string, values ...any) g.Node {
	parts := strings.Split(fmt.Sprintf(s.Say(english), values...), "`")
	var out g.Group
	for i, part := range parts {
		if i%2 == 0 {
			out = append(out, g.Text(part))
		} else {
			out = append(out, h.Code(g.Text(part)))
		}
	}
	return out
}

// either returns the text for a served page, or that for the static page.
func (s *Site) either(served, static string) string {
	if s.Static {
		return static
	}
	return served
}

// language returns the attributes of the root element: the language, and the texts that the
// scripts show in it, one "English=text" on each line.
func (s *Site) language() g.Node {
	if s.isChinese() {
		_, words := chinese()
		return g.Group{h.Lang("zh-CN"), h.Data("words", words)}
	}
	return h.Lang("en")
}

// Title and Description are what search engines show of the static page. They are texts for
// [Site.Say].
const (
	Title       = "MongoDB ObjectId to timestamp converter and generator"
	Description = "Convert a MongoDB ObjectId to its timestamp, or a time range to a query, and generate new ObjectIds. Everything runs in your browser: nothing is uploaded."
)

//go:embed zh.po
var catalog string

// chinese returns the Chinese texts of zh.po by their English, and the texts of the scripts for
// the function word of clock.js. The format is that of gettext: an entry has lines such as
// msgid "English", further lines of its text begin with a quote, and an empty line ends it.
var chinese = sync.OnceValues(func() (table map[string]string, words string) {
	table = map[string]string{}
	for entry := range strings.SplitSeq(catalog, "\n\n") {
		fields, name := map[string]string{}, ""
		for line := range strings.Lines(entry) {
			word, quoted, _ := strings.Cut(line, `"`)
			name = cmp.Or(word, name)
			text, _ := strconv.Unquote(`"` + strings.TrimRight(quoted, "\n")) // a comment has none
			fields[name] += text
		}
		if english := fields["msgid "]; fields["msgctxt "] == "script" {
			words += english + "=" + fields["msgstr "] + "\n"
		} else if english != "" { // else the head of the file
			table[english] = fields["msgstr "]
		}
	}
	return table, words
})
