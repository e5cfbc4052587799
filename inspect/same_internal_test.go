package inspect

import (
	"slices"
	"strings"
	"testing"
)

// FuzzSame finds the same ObjectIds with Find, which oid annotate uses, as with AppendObjectIDs,
// which oid census uses.
func FuzzSame(f *testing.F) {
	for _, text := range []string{
		anID, "x " + anID + "\n" + anID, "=3D=3D" + anID[:9] + "=\r\n" + anID[9:], `\u003c` + anID, "<Buffer " + hexBytes + "> " + anID, aUUID + "-" + anID,
		"5759e988-" + anID, `{"timestamp":1350508407,"counter":4427793,"randomValue1":12384364,"randomValue2":-10343}`, strings.Repeat("=\n0", 20), anID[:12] + "=\n" + anID[12:] + "=\n" + anID[:3],
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := slices.DeleteFunc(Find(text), func(m Match) bool { return len(m.ID) != hexSize })
		if got := objectIDsIn(text); !slices.Equal(got, want) {
			t.Fatalf("%q: Find %+v, AppendObjectIDs %+v", text, want, got)
		}
	})
}
