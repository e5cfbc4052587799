package unpack_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/oidkit/oid/internal/unpack"
)

// openFile writes data to a file and opens it.
func openFile(t *testing.T, data []byte) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "F")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// A zip in a file is read from the file itself only if nothing is around it. What it expands to is
// bounded by the size of the file.
func TestZipInFile(t *testing.T) {
	folder := t.TempDir()
	text := strings.Repeat("some text\n", 4<<20)
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	stored := shell(t, folder, "zip -q -0 - a")
	contents, wrong := walk(openFile(t, stored), unpack.Options{FreeExpansion: 1 << 20})
	if contents["a"] != text || len(wrong) > 0 {
		t.Errorf("a stored file: %d bytes, %v", len(contents["a"]), wrong)
	}
	check(t, "a zip in gzip", openFile(t, shell(t, folder, "echo text > b; zip -q - b | gzip")), map[string]string{"b": "text\n"})
	check(t, "a zip in tar", openFile(t, shell(t, folder, "zip -q b.zip b; tar c b.zip")), map[string]string{"b.zip: b": "text\n"})

	unpack.SetMaxSpool(t, int64(len(stored)))
	if contents, wrong := walk(bytes.NewReader(stored), unpack.Options{}); contents["a"] != text || len(wrong) > 0 {
		t.Errorf("a zip as large as may be copied: %v", wrong)
	}
	unpack.SetMaxSpool(t, int64(len(stored)-1))
	wantError(t, "a larger zip", stored, "", "that is no file of its own; write it to a file")
	check(t, "a larger zip in a file", openFile(t, stored), map[string]string{"a": text})
}

// A tar may begin with a header that is longer than what is looked at first, and with the rest of a
// file of another volume, which is an error.
func TestTarHeaders(t *testing.T) {
	long := tar.Header{Name: "a", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"OID.comment": strings.Repeat("x", 100<<10)}}
	check(t, "a long header", bytes.NewReader(tarred(t, long)), map[string]string{"a": "a"})

	rest := tarred(t, tar.Header{Name: "rest", Typeflag: tar.TypeReg, Format: tar.FormatGNU}, tar.Header{Name: "whole", Typeflag: tar.TypeReg})
	rest[156] = 'M'
	copy(rest[148:156], "        ")
	sum := 0
	for _, c := range rest[:512] {
		sum += int(c)
	}
	copy(rest[148:156], fmt.Sprintf("%06o\x00 ", sum))
	contents, wrong := walk(bytes.NewReader(rest), unpack.Options{})
	if contents["whole"] != "whole" || len(contents) != 1 || !strings.Contains(wrong["rest"], "files of type 'M' are not read; extract them with tar") {
		t.Errorf("the rest of a file: %q, %q", contents, wrong)
	}
}

// The content of a member ends where the next one begins, even if another goroutine still reads it.
func TestClosedMember(t *testing.T) {
	folder := t.TempDir()
	data := shell(t, folder, "head -c 200000 /dev/zero | tr '\\0' a > a; cp a b; tar c a b")
	var first *unpack.Content
	_ = unpack.Walk(bytes.NewReader(data), unpack.Options{}, func(_ string, c *unpack.Content, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = c // not read
			return nil
		}
		if n, err := io.Copy(io.Discard, first); !errors.Is(err, fs.ErrClosed) || n > 64<<10 {
			t.Errorf("%d bytes of an earlier member, %v", n, err)
		}
		if n, err := io.Copy(io.Discard, c); n != 200_000 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		return nil
	})
}

// The error of the reader stays as it is.
func TestReaderFails(t *testing.T) {
	in := io.MultiReader(strings.NewReader("text"), iotest.ErrReader(errors.New("the disk is broken")))
	if _, wrong := walk(in, unpack.Options{}); wrong[""] != "the disk is broken" {
		t.Errorf("%q", wrong)
	}
}

// Decoders within others have an eighth of the window.
func TestInnerWindow(t *testing.T) {
	for _, inner := range []string{"xz -9", "zstd --ultra --long=27"} {
		for outer, want := range map[string]string{"xz -1": "decompressing takes more memory than is allowed", "gzip": ""} {
			data := shell(t, t.TempDir(), "head -c 40M /dev/zero | "+inner+" | "+outer)
			_, wrong := walk(bytes.NewReader(data), unpack.Options{})
			if !strings.Contains(wrong[""], want) || want == "" && len(wrong) > 0 {
				t.Errorf("%s | %s: %q, want %q", inner, outer, wrong, want)
			}
		}
	}
}
