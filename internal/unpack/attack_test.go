package unpack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/internal/unpack"
)

// wantError reads data, and wants an error with the text want for a file. It returns how many
// bytes were unpacked.
func wantError(t *testing.T, what string, data []byte, file, want string) (size int) {
	t.Helper()
	contents, wrong := walk(bytes.NewReader(data), unpack.Options{Name: "F", FreeExpansion: 16 << 20})
	if !strings.Contains(wrong[file], want) {
		t.Errorf("%s: %q, want %q for %q", what, wrong, want, file)
	}
	for _, text := range contents {
		size += len(text)
	}
	return size
}

// What expands to more than what is free and 500 times its size ends with an error, in each wrapping.
func TestBombs(t *testing.T) {
	testenv.WithoutRace(t)
	folder := t.TempDir()
	const newlines = "head -c 40M /dev/zero | tr '\\0' '\\n' | "
	const tooLarge = "expands to more than 500 times its size"
	for _, program := range []string{"gzip", "xz -1", "bzip2", "zstd", "lz4 | gzip"} {
		bomb := shell(t, folder, newlines+program)
		name, _, _ := strings.Cut(program, " ")
		wantError(t, program, bomb, "", name+": the data "+tooLarge)
		if err := os.WriteFile(filepath.Join(folder, "bomb"), bomb, 0o644); err != nil {
			t.Fatal(err)
		}
		wantError(t, program+" in tar", shell(t, folder, "tar c bomb"), "bomb", tooLarge)
		wantError(t, program+" in zip", shell(t, folder, "zip -q - bomb"), "bomb", tooLarge)
	}
	wantError(t, "a sparse tar", shell(t, folder, "truncate -s 100G sparse && tar cS sparse && rm sparse"), "sparse", "tar: the data "+tooLarge)
	// Each of many members is small.
	shell(t, folder, "for i in $(seq 30); do head -c 3M /dev/zero | tr '\\0' '\\n' | gzip > $i.gz; done")
	if size := wantError(t, "many members", shell(t, folder, "tar c {1..30}.gz | gzip"), "", tooLarge); size > 17<<20 {
		t.Errorf("many members: %d bytes were read", size)
	}
}

// Containers that lie about themselves end with an error, and take little memory.
func TestLies(t *testing.T) {
	zipped := func(names ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write(bytes.Repeat([]byte("text\n"), 1000))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	plain := zipped("a")
	directory := bytes.LastIndex(plain, []byte("PK\x01\x02"))
	with := func(at int, value uint32) []byte {
		b := bytes.Clone(plain)
		binary.LittleEndian.PutUint32(b[directory+at:], value)
		return b
	}
	wantError(t, "zip with a small size", with(24, 10), "a", "zip: ")
	wantError(t, "zip with a large size", with(24, 1<<31), "a", "zip: the data ends early")
	wantError(t, "zip with another checksum", with(16, 7), "a", "zip: checksum error")
	wantError(t, "zip with an offset outside", with(42, 1<<30), "a", "zip: ")
	wantError(t, "a cut zip", plain[:len(plain)-30], "", "zip: not a valid zip file")

	end := bytes.Clone(plain[bytes.LastIndex(plain, []byte("PK\x05\x06")):])
	entry := plain[directory : len(plain)-len(end)]
	many := append(bytes.Clone(plain[:directory]), bytes.Repeat(entry, 1<<20)...)
	binary.LittleEndian.PutUint32(end[12:], uint32(len(entry)<<20))
	binary.LittleEndian.PutUint32(end[8:], 0)
	before := allocated()
	wantError(t, "zip with a large directory", append(many, end...), "", "a directory of more than 16 MiB")
	if used := allocated() - before; used > 400<<20 {
		t.Errorf("a large directory takes %d bytes of memory", used)
	}

	dictionary := shell(t, t.TempDir(), "echo text | xz")
	head := dictionary[12 : 12+(int(dictionary[12])+1)*4]
	head[bytes.Index(head, []byte("\x21\x01"))+2] = 40 // 4 GiB - 1
	binary.LittleEndian.PutUint32(head[len(head)-4:], crc32.ChecksumIEEE(head[:len(head)-4]))
	before = allocated()
	wantError(t, "xz with a large dictionary", dictionary, "", "xz: decompressing takes more memory than is allowed")
	wantError(t, "zstd with a large window", shell(t, t.TempDir(), "head -c 30M /dev/zero | zstd --ultra --long=28 --no-check"), "", "zstd: decompressing takes more memory than is allowed")
	if used := allocated() - before; used > 32<<20 {
		t.Errorf("large windows take %d bytes of memory", used)
	}
}

// allocated returns how much memory was ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// tarred returns a tar with members of these headers, each with its name as content.
func tarred(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Mode = 0o644; h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		err := w.WriteHeader(&h)
		if err == nil && h.Size > 0 {
			_, err = w.Write([]byte(h.Name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The names of members lead nowhere, links and hidden files are skipped, and of two members
// with one name the second is an error.
func TestMembers(t *testing.T) {
	reg := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }
	data := tarred(t, reg("../../etc/a"), reg("/etc/b"), reg(`c\d`), reg("./.hidden/e"), reg("._f"), reg("g"), reg("g"),
		tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "g"}, tar.Header{Name: "i", Typeflag: tar.TypeSymlink, Linkname: "g"},
		tar.Header{Name: "j", Typeflag: tar.TypeFifo}, tar.Header{Name: "k/", Typeflag: tar.TypeDir})
	got, wrong := walk(bytes.NewReader(data), unpack.Options{})
	if want := "map[c/d:c\\d etc/a:../../etc/a etc/b:/etc/b g:g]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if len(wrong) != 1 || !strings.Contains(wrong["g"], "an earlier file in the tar has the same name") {
		t.Errorf("errors %v", wrong)
	}
	var headers []tar.Header
	for i := range 1<<14 + 1 {
		headers = append(headers, reg(fmt.Sprint(i)))
	}
	wantError(t, "many members", tarred(t, headers...), "", "tar: more than 16384 files")
	wantError(t, "a long name", tarred(t, reg(strings.Repeat("x", 2000))), "", "a name of 2000 bytes")
	wantError(t, "no members", tarred(t, tar.Header{Name: "k/", Typeflag: tar.TypeDir}), "", "the tar has no files to read")
	wantError(t, "links alone", tarred(t, tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "g"}), "", "the tar has no files to read")
}

// What GNU tar writes beside files is no error, a zip may have more data than its directory may,
// no temporary file stays, and BSON may begin with two bytes of another format.
func TestNoFalseError(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	folder := t.TempDir()
	check(t, "a label and a listing", bytes.NewReader(shell(t, folder, "mkdir d && echo text > d/a && tar c -V label -g snapshot d")), map[string]string{"d/a": "text\n"})
	large := strings.Repeat("text\n", 4<<20)
	if err := os.WriteFile(filepath.Join(folder, "large"), []byte(large), 0o644); err != nil {
		t.Fatal(err)
	}
	check(t, "a large zip", bytes.NewReader(shell(t, folder, "zip -q -0 - large")), map[string]string{"large": large})
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v, %v", left, err)
	}
	if err := new(unpack.Options).Known([]byte("\x1f\x9d\x00\x00\x07_id\x00"), true); err != nil {
		t.Error(err)
	}
}

// Damage is an error, and what was read before it counts.
func TestDamage(t *testing.T) {
	folder := unpacked(t)
	whole := shell(t, folder, "tar c logs/app.log dump")
	wantError(t, "a cut tar", whole[:len(whole)-30<<10], "dump/shop/orders.bson", "tar: the data ends early")
	wantError(t, "a cut tar, its end", whole[:len(whole)-30<<10], "", "tar: the files from here on are not read: unexpected EOF")
	damaged := bytes.Clone(whole)
	copy(damaged[1024:], "what is no header")
	if size := wantError(t, "a damaged header", damaged, "", "the files from here on are not read"); size != len("one line\n") {
		t.Errorf("%d bytes were read before", size)
	}
	wantError(t, "two tars", append(bytes.Clone(whole), whole...), "", "there is data after its end, perhaps a second tar")
	for _, program := range []string{"gzip", "xz", "bzip2", "lz4", "zstd"} {
		packed := shell(t, folder, "tar c dump | "+program)
		for _, cut := range []int{1, 9, len(packed) / 2} {
			if _, wrong := walk(bytes.NewReader(packed[:len(packed)-cut]), unpack.Options{}); len(wrong) == 0 {
				t.Errorf("%s without its last %d bytes: no error", program, cut)
			}
		}
		flipped := bytes.Clone(packed)
		flipped[len(flipped)/2] ^= 0x40
		if _, wrong := walk(bytes.NewReader(flipped), unpack.Options{}); len(wrong) == 0 {
			t.Errorf("%s with a damaged byte: no error", program)
		}
	}
}
