package unpack_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/oidkit/oid/internal/unpack"
)

// FuzzWalk unpacks anything. It must end without a crash, and unpack no more than is allowed.
func FuzzWalk(f *testing.F) {
	folder := f.TempDir()
	for _, command := range []string{
		"gzip", "xz", "xz --format=lzma", "bzip2", "lz4", "lz4 -l", "zstd", "gzip | xz | zstd", "cat > x && tar c x", "cat > x && tar c -H v7 x x", "cat > x && tar cz x",
		"gzip > y && tar c y", "cat > x && zip -q - x", "gzip > y && zip -q -0 - y y", "cat > x && rm -f e.zip && zip -q -e -P secret e.zip x && cat e.zip",
		"cat > x && zip -q -Z bzip2 - x", "cat > x && truncate -s 1M x && tar cS x", "cat > x && tar c x > z && zip -q - z",
	} {
		f.Add(shell(f, folder, "echo 507f1f77bcf86cd799439011 | "+command))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const free, window = 1 << 20, 1 << 20
		size := 0
		err := unpack.Walk(bytes.NewReader(data), unpack.Options{FreeExpansion: free, MaxWindow: window}, func(path string, c *unpack.Content, err error) error {
			if (c == nil) == (err == nil) && err != unpack.ErrEmpty {
				t.Errorf("%q: content %v, error %v", path, c, err)
			}
			if c != nil {
				n, _ := io.Copy(io.Discard, c)
				size += int(n)
				c.Close()
			}
			return nil
		})
		if limit := free + 500*len(data) + 1<<20; err != nil || size > limit {
			t.Errorf("%d bytes from %d, %v, want at most %d", size, len(data), err, limit)
		}
		_, _ = io.Copy(io.Discard, unpack.Text(bytes.NewReader(data), unpack.Options{FreeExpansion: free, MaxWindow: window}))
	})
}
