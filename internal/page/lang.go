package page

import (
	"fmt"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Say returns a text of the page in the language of the site. The English text is the key of
// the table; a text without a row stays English.
func (s *Site) Say(english string) string {
	if text, ok := chinese[english]; ok && s.Lang == "zh" {
		return text
	}
	return english
}

// Prose is [Site.Say] for a sentence with code, which stands in backquotes. english is a
// format of package fmt for values, and so is the text in another language.
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

// language returns the attributes of the root element: the language, and the texts that the
// scripts show in it, one "English=text" on each line.
func (s *Site) language() g.Node {
	if s.Lang == "zh" {
		return g.Group{h.Lang("zh-CN"), h.Data("words", chineseWords)}
	}
	return h.Lang("en")
}

// chineseWords are the texts of the scripts, see function word of clock.js.
const chineseWords = `copied=已复制`

// chinese has the Chinese of the texts that the static page shows. Texts of other packages
// are rows too, such as the names of verdicts; a text that contains numbers stays English.
var chinese = map[string]string{
	"Created": "生成时间",
}
