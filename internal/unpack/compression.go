package unpack

import (
	"compress/bzip2"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"
)

// compression is a format of compressed data. Its data begins with one of the magics.
type compression struct {
	name, ending string
	magics       []string
	hasWindow    bool                                                 // of the size that the data asks for
	open         func(in io.Reader, window uint64) (io.Reader, error) // an io.Closer, too, if it must be closed
}

var compressions = []compression{
	{"gzip", ".gz", []string{"\x1f\x8b\x08"}, false, func(in io.Reader, _ uint64) (io.Reader, error) { return gzip.NewReader(in) }},
	// pzstd writes a frame for itself first.
	{"zstd", ".zst", []string{"\x28\xb5\x2f\xfd", "\x50\x2a\x4d\x18"}, true, func(in io.Reader, window uint64) (io.Reader, error) {
		d, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(window), zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
	{"xz", ".xz", []string{"\xfd7zXZ\x00"}, true, func(in io.Reader, window uint64) (io.Reader, error) { return xz.NewReader(in, uint32(window)) }},
	{"bzip2", ".bz2", []string{bzip2Magic + "1AY&SY", bzip2Magic + "\x17\x72\x45\x38\x50\x90"}, false, func(in io.Reader, _ uint64) (io.Reader, error) { return bzip2.NewReader(in), nil }},
	// The second magic is that of old versions and of the Linux kernel.
	{"lz4", ".lz4", []string{"\x04\x22\x4d\x18", "\x02\x21\x4c\x18"}, false, func(in io.Reader, _ uint64) (io.Reader, error) { return lz4.NewReader(in), nil }},
}

// bzip2Magic has a question mark for the level, a digit.
const bzip2Magic = "BZh?"

// compressionOf returns the compression of data that begins with head, or nil for none.
func compressionOf(head []byte) *compression {
	for i := range compressions {
		for _, magic := range compressions[i].magics {
			if matches(head, magic) {
				return &compressions[i]
			}
		}
	}
	return nil
}

// matches reports whether head begins with magic, in which a question mark stands for any byte.
func matches(head []byte, magic string) bool {
	if len(head) < len(magic) {
		return false
	}
	for i := range len(magic) {
		if magic[i] != '?' && magic[i] != head[i] {
			return false
		}
	}
	return true
}
