package objectid_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/oidkit/oid/objectid"
)

func TestSQL(t *testing.T) {
	id := objectid.MustParse(sample)
	if v, err := id.Value(); err != nil || !bytes.Equal(v.([]byte), id[:]) {
		t.Errorf("Value() = %v, %v", v, err)
	}
	if v, err := (objectid.Hex{ID: id}).Value(); err != nil || v != sample {
		t.Errorf("Hex.Value() = %v, %v", v, err)
	}
	if v, err := (objectid.ID{}).Value(); v != nil || err != nil {
		t.Errorf("the zero ID's Value() = %v, %v, want nil", v, err)
	}
	if v, err := (objectid.Hex{}).Value(); v != nil || err != nil {
		t.Errorf("the zero Hex's Value() = %v, %v, want nil", v, err)
	}
	for _, src := range []any{id[:], sample, []byte(sample), strings.ToUpper(sample), nil} {
		got, hex, want := objectid.ID{7}, objectid.Hex{ID: objectid.ID{7}}, id
		if src == nil {
			want = objectid.ID{}
		}
		if err := got.Scan(src); err != nil || got != want {
			t.Errorf("Scan(%v) = %v, %v", src, got, err)
		}
		err := hex.Scan(src)
		if b, ok := src.([]byte); ok && len(b) == objectid.Size {
			if !errors.Is(err, objectid.ErrInvalid) || !strings.Contains(err.Error(), "use ID for a binary column") || hex.ID != (objectid.ID{7}) {
				t.Errorf("Hex.Scan(%v): %v, left %v", src, err, hex)
			}
		} else if err != nil || hex.ID != want {
			t.Errorf("Hex.Scan(%v) = %v, %v", src, hex, err)
		}
	}
	for _, src := range []any{
		"",
		[]byte{},
		[]byte(nil), "hello world!", string(id[:]), []byte("short"), make([]byte, 24), make([]byte, 13),
		int64(1), 1.5, true, time.Now(),
		[]string{sample},
		[12]byte(id),
	} {
		got, hex := objectid.ID{7}, objectid.Hex{ID: objectid.ID{7}}
		if err := got.Scan(src); !errors.Is(err, objectid.ErrInvalid) || got != (objectid.ID{7}) {
			t.Errorf("Scan(%#v): %v, left %v", src, err, got)
		}
		if err := hex.Scan(src); !errors.Is(err, objectid.ErrInvalid) || hex.ID != (objectid.ID{7}) {
			t.Errorf("Hex.Scan(%#v): %v, left %v", src, err, hex)
		}
	}
}

// scanned reports whether Scan reads the 12 bytes of text as an id.
func scanned(t *testing.T, text string) bool {
	t.Helper()
	id := objectid.ID{7}
	err := id.Scan([]byte(text))
	if err == nil && string(id[:]) != text || err != nil && (!errors.Is(err, objectid.ErrInvalid) || id != objectid.ID{7}) {
		t.Errorf("%q is read as %v, %v", text, id, err)
	}
	return err == nil
}

// Drivers of MySQL hand over text as bytes.
func TestScanOfTextInBytes(t *testing.T) {
	for _, text := range []string{
		"Rheumatology", "rheumatology", "RHEUMATOLOGY", "Two Of These", "John O'Brien", "snake_case_1", "user-name.42",
		"INV-20261128", "US0378331005", "001A2B3C4D5E", "deadbeef0123", "67e55044-10b", "abc         ", "MFRGGZDFMZTW",
		"123456789.12", "12:34:56.789", "+49301234567", "555-123-4567", "192.168.10.1", "(1) (2) (3)!", "            ",
		"Größenord.", "Éclairages.", "数据分析", "Москва", "Київ2026", "とうきょ", "한국어로", "ÀÉÎÕÜÞ",
	} {
		if len(text) != objectid.Size {
			t.Fatalf("%q has %d bytes", text, len(text))
		}
		var hex objectid.Hex
		if err := hex.Scan([]byte(text)); scanned(t, text) || err == nil {
			t.Errorf("%q is an id", text)
		}
	}
	// What the doc of Scan says of other texts, and ids that resemble text.
	for _, text := range []string{
		"kJ8sQz1-Pd3x", "camelCaseIt1", "me@work.test", "Nov 28, 2026", "line\nseconds", "12345\n67890\n", "Ж and а, b", "При abcde",
		"k\x00\x00etestabc1", "jkabcde\xe9bcd1", "jk\xc3bcdefghij", "ъtest\xff12345", "jkabctest12\x7f", "jkabc\u2028bcd1", "jkabcde\xc2\xa0bcd",
	} {
		if len(text) != objectid.Size {
			t.Fatalf("%q has %d bytes", text, len(text))
		}
		var hex objectid.Hex
		if err := hex.Scan([]byte(text)); !scanned(t, text) || err == nil {
			t.Errorf("%q is no id", text)
		}
	}
}

// Scan refuses ids so rarely as its doc says. The ids here are drawn from printable ASCII alone,
// in which most of those are that it refuses; then the counts are scaled to all ids.
func TestScanRefusesFewIDs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const drawn, printable = 200_000, '~' - ' ' + 1
	for _, first := range []string{"IJKLMNOPQRSTUVWXYZ[\\]^_`", "abcdefghijklmnopqrstuvwxyz{|}~"} { // 2009 to 2021, 2021 to 2037
		refused := 0.0
		for range drawn {
			var b [objectid.Size]byte
			for i := range b {
				b[i] = ' ' + byte(random.IntN(printable))
			}
			b[0] = first[random.IntN(len(first))]
			if !scanned(t, string(b[:])) {
				refused++
			}
		}
		if share := refused / drawn * math.Pow(printable/256.0, objectid.Size-1); share < 5e-9 || share > 1.4e-8 {
			t.Errorf("first byte of %s: %.2g of all ids are refused, want about 1e-8", first, share)
		}
	}
	for range drawn {
		at := time.Unix(random.Int64N(1<<32), 0)
		if id := objectid.NewAt(at); !scanned(t, string(id[:])) {
			t.Errorf("%v is refused", id)
		}
	}
}

// textForms are the forms of isText, written another way.
var textForms = func() (forms []*regexp.Regexp) {
	const between, capital, small = `0-9 '._\-`, `A-ZÀ-ÖØ-Þ`, `a-zªµºß-öø-ÿ`
	for _, form := range []string{
		"[" + between + capital + "]*",
		"[" + between + "]*([" + capital + small + "][" + small + "]*[" + between + "]+)*([" + capital + small + "][" + small + "]*)?",
		"[^a-zA-ZªµºÀ-ÖØ-öø-ÿ]*", // with letters of other alphabets alone, see below
		"[ -@[-`{-~]*",
	} {
		forms = append(forms, regexp.MustCompile("^(?:"+form+")$"))
	}
	return forms
}()

func looksLikeText(b []byte) bool {
	noOther := regexp.MustCompile(`^[\pL0-9 '._-]*$`).Match(b)
	return utf8.Valid(b) && slices.ContainsFunc(textForms, func(form *regexp.Regexp) bool {
		return form.Match(b) && (form != textForms[2] || noOther)
	})
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(sample))
	for _, text := range []string{"hello world!", "Rheumatology", "数据分析", "Größenord.", "12:34:56.789", "kJ8sQz1-Pd3x", "jk\xc3bcdefghij"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fromText, fromBytes := objectid.ID{7}, objectid.ID{7}
		textErr, bytesErr := fromText.Scan(string(b)), fromBytes.Scan(b)
		if isText := strings.EqualFold(fromText.String(), string(b)); isText != (textErr == nil) {
			t.Fatalf("string %q read as %v, %v", b, fromText, textErr)
		}
		if bytesErr == nil && !bytes.Equal(b, fromBytes[:]) && !strings.EqualFold(fromBytes.String(), string(b)) {
			t.Fatalf("bytes %x read as %v", b, fromBytes)
		}
		if bytesErr != nil && (!errors.Is(bytesErr, objectid.ErrInvalid) || fromBytes != objectid.ID{7}) {
			t.Fatalf("bytes %x: %v, left %v", b, bytesErr, fromBytes)
		}
		if len(b) == objectid.Size && (bytesErr == nil) == looksLikeText(b) {
			t.Fatalf("bytes %q: %v", b, bytesErr)
		}
		var hex objectid.Hex
		if err := hex.Scan(b); (err == nil) != (textErr == nil) || hex.ID != fromText && err == nil {
			t.Fatalf("bytes %q in a Hex: %v, %v, want %v, %v", b, hex, err, fromText, textErr)
		}
	})
}
