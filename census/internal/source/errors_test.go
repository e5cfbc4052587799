package source_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

func TestErrorsSayWhere(t *testing.T) {
	all := forms(t)
	whole, archive := all["bson"], all["archive"]
	first := int(binary.LittleEndian.Uint32(whole))
	length := func(n uint32) []byte {
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(b[first:], n)
		return b
	}
	unended := func(end int) []byte {
		b := bytes.Clone(whole)
		b[end-1] = 1
		return b
	}
	at := fmt.Sprintf("stopped at byte %d: ", first)
	for _, test := range []struct {
		name string
		data []byte
		ids  int64
		want string
	}{
		{"cut", whole[:len(whole)-1], 3, "the input ends within a document"},
		{"cut length", whole[:first+2], 1, at + "the input ends within a document's length"},
		{"negative length", length(1 << 31), 1, at + "census: not a BSON document: its length is -2147483648 bytes"},
		{"enormous length", length(1<<31 - 1), 1, at + "census: not a BSON document: its length is 2147483647 bytes"},
		{"length into the next", length(binary.LittleEndian.Uint32(whole[first:]) + 8), 1, at + "census: not a BSON document"},
		{"length too short", length(binary.LittleEndian.Uint32(whole[first:]) - 3), 1, at + "census: not a BSON document"},
		{"no end of the first", unended(first), 0, "stopped at byte 0: census: not a BSON document: no zero byte at its end"},
		{"no end of the second", unended(first + int(binary.LittleEndian.Uint32(whole[first:]))), 1, at + "census: not a BSON document: no zero byte at its end"},
		{"no end of a plain one", append(append(bytes.Clone(whole[:first]), whole[:first-1]...), 1), 1, at + "census: not a BSON document: no zero byte at its end"},
		{"half zstd", zstandard(all["json canonical"])[:200], 0, "unpack: zstd: the data ends early"},
		{"half gzip", zipped(all["json canonical"])[:200], 0, "unpack: gzip: the data ends early"},
		{"cut archive", archive[:bytes.LastIndex(archive[:len(archive)-4], archive[len(archive)-4:])+4], 5, "the archive ends within these collections: shop.other"},
		{"cut array", all["array"][:len(all["array"])-2], 4, "the array does not end"},
		{"empty", nil, 0, "unpack: the source is empty"},
	} {
		o := &census.Options{}
		if strings.HasPrefix(test.name, "no end") {
			o.Format = census.FormatBSON
		}
		r, err := read(t, bytes.NewReader(test.data), o)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
		if r.IDs != test.ids && !strings.HasPrefix(test.name, "half") {
			t.Errorf("%s: %d ids were read before, want %d", test.name, r.IDs, test.ids)
		}
		if !r.Broken() {
			t.Errorf("%s: the report is not broken", test.name)
		}
	}
	broken := errors.New("cable pulled")
	r, err := read(t, io.MultiReader(bytes.NewReader(all["json canonical"]), iotest.ErrReader(broken)), nil)
	if !errors.Is(err, broken) || r.IDs != 4 {
		t.Errorf("a failing reader: %d ids, %v", r.IDs, err)
	}
}

// The name of a column in another encoding is not found: the error says what to do. One
// that is spelled wrongly in UTF-8 is told nothing of encodings.
func TestErrorsNameTheEncoding(t *testing.T) {
	const hint = "the text is not UTF-8, convert it first, for example: iconv -f GB18030 -t UTF-8"
	const ids = "507f1f77bcf86cd799439011,1\n"
	for _, format := range []census.Format{census.FormatAuto, census.FormatCSV} {
		for text, want := range map[string]bool{
			"\xb1\xe0\xba\xc5,n\n" + ids: true, // 编号 in GBK
			"编码,n\n" + ids:               false,
		} {
			_, err := read(t, strings.NewReader(text), &census.Options{Format: format, Column: "编号"})
			if err == nil || !strings.Contains(err.Error(), "编号") || strings.Contains(err.Error(), hint) != want {
				t.Errorf("%s, %q: %v, want the hint: %v", format, text, err, want)
			}
		}
	}
	for text, want := range map[string]string{
		"\x89PNG\x01\n" + ids:                             "",
		"SQLite format 3\x00\x10\x00\x01\x01\xd0\n" + ids: "it is an SQLite database; give its path, as in oid census FILE",
	} {
		_, err := read(t, strings.NewReader(text), nil)
		if !errors.Is(err, census.ErrFormat) || strings.Contains(err.Error(), hint) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q and nothing of encodings", text, err, want)
		}
	}
	if r, err := read(t, strings.NewReader("_id,\xd0\xd5\n"+ids), nil); err != nil || r.IDs != 1 {
		t.Errorf("_id beside a column in GBK: %d ids, %v", r.IDs, err)
	}
}

// TestErrorsFarIntoBSON holds where reading stops, and what was read, in a file of
// several blocks with empty documents among others.
func TestErrorsFarIntoBSON(t *testing.T) {
	whole, err := bson.Marshal(bson.D{{Key: "_id", Value: objectid.New()}, {Key: "text", Value: strings.Repeat("x", 77)}})
	if err != nil {
		t.Fatal(err)
	}
	empty := []byte{5, 0, 0, 0, 0}
	const n = 6000
	good := bytes.Repeat(append(bytes.Clone(whole), empty...), n)
	r, err := read(t, bytes.NewReader(good), nil)
	if err != nil || found(r) != fmt.Sprintf("%d ids, without %d", n, n) {
		t.Errorf("%s, %v", found(r), err)
	}
	for name, bad := range map[string][]byte{
		"a type that does not exist": {8, 0, 0, 0, 0x50, 'a', 0, 0},
		"a length of 4":              {4, 0, 0, 0, 0},
		"no zero byte":               {6, 0, 0, 0, 0, 1},
	} {
		r, err := read(t, bytes.NewReader(append(append(bytes.Clone(good), bad...), whole...)), nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("stopped at byte %d: ", len(good))) || r.IDs != n {
			t.Errorf("%s: %d ids, %v, want %d and a stop at %d", name, r.IDs, err, n, len(good))
		}
	}
}
