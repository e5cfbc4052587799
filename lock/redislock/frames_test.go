package redislock

import (
	"slices"
	"testing"
)

func TestFrames(t *testing.T) {
	for stream, want := range map[string][]string{
		"+OK\r\n":                               {""},
		":1\r\n-ERR no\r\n":                     {"", ""},
		"$5\r\na\r\nbc\r\n":                     {""},
		"$0\r\n\r\n":                            {""},
		"$-1\r\n*-1\r\n_\r\n":                   {"", "", ""},
		"*0\r\n%0\r\n":                          {"", ""},
		"*2\r\n$1\r\na\r\n*2\r\n:1\r\n:2\r\n":   {""},
		"%1\r\n+a\r\n~1\r\n#t\r\n,1.5\r\n":      {"", ""},
		"|1\r\n+ttl\r\n:3\r\n*1\r\n:7\r\n":      {""},
		">3\r\n$7\r\nmessage\r\n+c\r\n+x\r\n":   {"message"},
		">3\r\n$9\r\nsubscribe\r\n+c\r\n:1\r\n": {"subscribe"},
		">1\r\n:1\r\n+OK\r\n":                   {"unnamed", ""},
		"=5\r\ntxt:x\r\n!3\r\nERR\r\n(12\r\n":   {"", "", ""},
		"HTTP/1.1 400 Bad Request\r\n\r\n":      nil,
	} {
		for _, size := range []int{1, 2, 3, len(stream)} { // in pieces of that size
			var f frames
			var got []string
			for piece := range slices.Chunk([]byte(stream), size) {
				f.feed(piece, func(push string) { got = append(got, push) })
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q in pieces of %d: frames %q, want %q", stream, size, got, want)
			}
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\na\r\n*2\r\n:1\r\n:2\r\n"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		count := func(size int) (n int) {
			var f frames
			for piece := range slices.Chunk(stream, size) {
				f.feed(piece, func(string) { n++ })
			}
			return n
		}
		if size < 1 || len(stream) == 0 {
			return
		}
		if whole, pieces := count(len(stream)), count(size); whole != pieces {
			t.Errorf("%d frames as a whole and %d in pieces of %d", whole, pieces, size)
		}
	})
}
