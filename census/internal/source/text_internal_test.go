package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/inspect"
)

const testID = "6592008029c8c3e4dc762501"

// FuzzBlocks cuts a text after each of its bytes, as a block would end, and finds the same ids as
// in the whole text.
func FuzzBlocks(f *testing.F) {
	for _, text := range []string{
		"x " + testID + "\n" + testID, `\u003c` + testID + `%3C` + testID + `%253C` + testID + `\b` + testID, strings.Repeat(testID+"-", 9),
		"a=3D" + testID[:9] + "=\r\n" + testID[9:] + " x=\n", "1-5759e988-" + testID + " 550e8400-e29b-41d4-" + testID,
		strings.Repeat("0", 200), "\x1b[2A" + testID + "\x1b[31m" + testID, `}` + testID + `\U0000003c` + testID + "#012" + testID,
		strings.Repeat("=3D"+testID, 7), strings.Repeat("%2C"+testID, 7), "8c" + testID + "=\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2*longestTail {
			return
		}
		want := idsOf(text)
		for n := range len(text) + 1 {
			cut, err := betweenIDs([]byte(text[:n]), false)
			if err != nil || cut < 0 || cut > n {
				t.Fatalf("cut at %d of %d: %v", cut, n, err)
			}
			if got := append(idsOf(text[:cut]), idsOf(text[cut:])...); !slices.Equal(got, want) {
				t.Fatalf("cut at %d, after %q: found %q, want %q in %q", cut, text[:cut], got, want, text)
			}
		}
	})
}

func idsOf(text string) (ids []string) {
	for _, m := range inspect.AppendObjectIDs(nil, text) {
		ids = append(ids, m.ID)
	}
	return ids
}
