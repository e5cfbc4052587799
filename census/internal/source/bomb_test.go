package source_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/internal/unpack"
)

// A packer compresses what is written to it.
type packer func(t *testing.T, w io.Writer) io.WriteCloser

var packers = map[string]packer{
	"gzip": func(_ *testing.T, w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"zstd": func(t *testing.T, w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	},
}

// bomb returns compressed data that expands to size bytes: newlines, noise bytes that cannot be
// compressed, and more newlines.
func bomb(t *testing.T, pack packer, size, noise int) *bytes.Buffer {
	t.Helper()
	random := rand.NewChaCha8([32]byte{1})
	newlines := bytes.Repeat([]byte("\n"), 1<<16)
	var b bytes.Buffer
	w := pack(t, &b)
	for _, from := range []io.Reader{
		bytes.NewReader(newlines),
		io.LimitReader(random, int64(noise)),
		&endless{size: size - noise - len(newlines), fill: func(p []byte) int { return copy(p, newlines) }},
	} {
		if _, err := io.Copy(w, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// expand reads all of compressed data and returns the error.
func expand(in io.Reader, free int64) error {
	return source.Walk(in, source.Options{Format: source.Grep, Options: unpack.Options{FreeExpansion: free}}, func(_ string, s *source.Input, err error) error {
		if err != nil {
			return err
		}
		return s.Read(context.Background(), func(*source.Batch) {}, func(*source.Batch) error { return nil })
	})
}

// TestBomb reads compressed data that expands to a little less and a little more than is
// free, and to a little less and a little more than 500 times its size.
func TestBomb(t *testing.T) {
	const mib = 1 << 20
	for name, pack := range packers {
		for _, test := range []struct {
			size, noise int
			stops       bool
		}{
			{7 * mib, 0, false},
			{9 * mib, 0, true},
			{64 * mib, 64 * mib / 450, false},
			{64 * mib, 64 * mib / 560, true},
		} {
			if name == "gzip" && test.noise > 0 {
				test.noise -= 64 * mib / 1030 // what gzip makes of newlines
			}
			err := expand(bomb(t, pack, test.size, test.noise), 8*mib)
			if stopped := err != nil && strings.Contains(err.Error(), name+": the data expands to more than 500 times its size"); stopped != test.stops {
				t.Errorf("%s of %d bytes with %d of noise: %v, want a stop: %v", name, test.size, test.noise, err, test.stops)
			}
		}
	}
}

// TestBombAtItsDefault reads as much as is free without a limit of the caller.
func TestBombAtItsDefault(t *testing.T) {
	testenv.WithoutRace(t)
	for name, pack := range packers {
		for mib, stops := range map[int]bool{250: false, 270: true} {
			if err := expand(bomb(t, pack, mib<<20, 0), 0); (err != nil) != stops {
				t.Errorf("%s of %d MiB: %v, want a stop: %v", name, mib, err, stops)
			}
		}
	}
}
