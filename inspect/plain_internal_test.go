package inspect

import (
	"encoding/json"
	"strings"
	"testing"
)

// A string of JSON without escapes is the string that encoding/json decodes.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		`"\u0035f1f77bcf86cd799439011"`, `"\\x507f1f77bcf86cd799439011"`, `"\"507f\/\""`, `"c232ab00\u002d9414"`, `"\b\f\n\r\t é\u00e9\u2028"`,
		`"\ud83d\ude00"`, `"\ud83d"`, `"it's \\"`, `\x507f1f77bcf86cd799439011`, `"\q"`, `"'\\'"`, " \r\n\t\"\\u0041\"\t\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, want := plain(text), ""
		if json.Unmarshal([]byte(text), &want) != nil || !strings.Contains(text, `\`) {
			want = text
			if strings.ContainsAny(text, `{[`) && json.Valid([]byte(text)) {
				return // a document, in which several strings have lost their escapes
			}
		} else if strings.Contains(strings.ToLower(text), `\ud`) || strings.ContainsRune(want, '\ufffd') {
			return // halves of characters, which no id has
		} else {
			got = strings.Trim(got, " \r\n\t")
			got = got[1 : len(got)-1]
		}
		if got != want {
			t.Errorf("%q: plain is %q, want %q", text, got, want)
		}
	})
}
