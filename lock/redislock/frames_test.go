package redislock

import (
	"slices"
	"testing"
)

func TestFrames(t *testing.T) {
	for stream, want := range map[string]string{ // r: reply, m: message
		"+OK\r\n":                                    "r",
		":1\r\n-ERR no\r\n":                          "rr",
		"$5\r\na\r\nbc\r\n":                          "r",
		"$0\r\n\r\n":                                 "r",
		"$-1\r\n*-1\r\n_\r\n":                        "rrr",
		"*0\r\n%0\r\n":                               "rr",
		"*2\r\n$1\r\na\r\n*2\r\n:1\r\n:2\r\n":        "r",
		"%1\r\n+a\r\n~1\r\n#t\r\n,1.5\r\n":           "rr",
		"|1\r\n+ttl\r\n:3\r\n*1\r\n:7\r\n":           "r",
		">3\r\n$7\r\nmessage\r\n+c\r\n+x\r\n+OK\r\n": "mr",
		">3\r\n$9\r\nsubscribe\r\n+c\r\n:1\r\n":      "r",
		">1\r\n:1\r\n+OK\r\n":                        "mr",
		"=5\r\ntxt:x\r\n!3\r\nERR\r\n(12\r\n":        "rrr",
		"HTTP/1.1 400 Bad Request\r\n\r\n":           "",
	} {
		for _, size := range []int{1, 2, 3, len(stream)} { // in pieces of that size
			var f frames
			var got []byte
			for piece := range slices.Chunk([]byte(stream), size) {
				f.feed(piece, func() {
					if f.reply() {
						got = append(got, 'r')
					} else {
						got = append(got, 'm')
					}
				})
			}
			if string(got) != want {
				t.Errorf("%q in pieces of %d: frames %q, want %q", stream, size, got, want)
			}
		}
	}
}

func TestRequestsHaveReplies(t *testing.T) {
	for request, want := range map[string]int64{
		"*1\r\n$4\r\nPING\r\n":                                           1,
		"*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n":                2,
		"*2\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\na\r\n":                        1,
		"*3\r\n$3\r\nGET\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n":              1,
		"*2\r\n$4\r\nECHO\r\n$23\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\n\r\n": 1,
	} {
		var f frames
		var got []int64
		f.feed([]byte(request), func() { got = append(got, f.replies()) })
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q has %d replies, want %d", request, got, want)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\na\r\n*2\r\n:1\r\n:2\r\n"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		count := func(size int) (n int) {
			var f frames
			for piece := range slices.Chunk(stream, size) {
				f.feed(piece, func() { n++ })
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
