package phrase_test

import (
	"strconv"
	"testing"

	"github.com/oidkit/oid/internal/phrase"
)

// A text is that of its key, also after keys of the same slot, and is written again only then.
func TestMemo(t *testing.T) {
	var m phrase.Memo[int]
	written := 0
	write := func(b []byte, key int) []byte {
		written++
		return strconv.AppendInt(b, int64(key), 10)
	}
	for i, c := range []struct{ slot, key, written int }{
		{0, 0, 1},
		{0, 0, 1},
		{0, 1000, 2},
		{1, 0, 3},
		{0, 1000, 3},
		{32, 7, 4},
		{0, 1000, 5},
		{-1, 5, 6},
		{-1, 5, 6},
	} {
		if got := string(m.Append([]byte("is "), c.slot, c.key, write)); got != "is "+strconv.Itoa(c.key) || written != c.written {
			t.Errorf("%d: %q after %d writes, want %d after %d", i, got, written, c.key, c.written)
		}
	}
}
