package sealed

import (
	"bytes"
	"crypto/cipher"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

// The tests of this file have the key: they make what an attacker would have to guess.

var exampleID = objectid.MustParse("507f1f77bcf86cd799439011")

// threeKeys returns a Sealer with three keys.
func threeKeys(t *testing.T, form Form) *Sealer {
	t.Helper()
	var keys []Key
	for _, digit := range []string{"1", "2", "3"} {
		key, err := ParseKey(strings.Repeat(digit, 64))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	s, err := New(&Options{Kind: "order", Form: form, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each bit that is there to recognise a forgery by is compared.
func TestEveryBitIsChecked(t *testing.T) {
	refused := func(form Form, what string, bit int, forged []byte) {
		t.Helper()
		if id, err := threeKeys(t, form).OpenBytes(forged); !errors.Is(err, ErrNotSealed) {
			t.Errorf("%v: %s, bit %d: it opens as %v", form, what, bit, id)
		}
	}
	short := threeKeys(t, Short).keys[0].(block)
	for bit := 96; bit < 128; bit++ {
		b := append(exampleID[:], 0, 0, 0, 0)
		b[bit/8] ^= 0x80 >> (bit % 8)
		short.aes.Encrypt(b, b)
		refused(Short, "a zero", bit, b)
	}
	uuid := threeKeys(t, UUID).keys[0].(block)
	for bit := 48; bit < 80; bit++ {
		b := slices.Concat(exampleID[:6], middle, exampleID[6:])
		b[bit/8] ^= 0x80 >> (bit % 8)
		if !isUUID(b) {
			continue
		}
		for uuid.aes.Encrypt(b, b); !isUUID(b); {
			uuid.aes.Encrypt(b, b)
		}
		refused(UUID, "a zero", bit, b)
	}
	long := threeKeys(t, Long).keys[0].(siv)
	for bit := range 128 {
		tag, id := long.tag(exampleID), exampleID
		tag[bit/8] ^= 0x80 >> (bit % 8)
		for i, m := range long.mask(tag) {
			if i < len(id) {
				id[i] ^= m
			}
		}
		refused(Long, "the tag", bit, append(tag[:], id[:]...))
	}
}

// The blocks through which a walk passes do not open, although the walk back from them ends
// at the id.
func TestOnlyTheEndOfAWalkOpens(t *testing.T) {
	s := threeKeys(t, UUID)
	end, passed := s.SealBytes(exampleID), 0
	b := slices.Concat(exampleID[:6], middle, exampleID[6:])
	for c := s.keys[0].(block).aes; ; passed++ {
		if c.Encrypt(b, b); bytes.Equal(b, end) {
			break
		}
		if id, err := s.OpenBytes(b); !errors.Is(err, ErrNotSealed) {
			t.Errorf("%x opens as %v", b, id)
		}
	}
	if passed == 0 {
		t.Error("the walk has one step: take another id")
	}
}

// opens is a construction that opens everything as one id.
type opens struct {
	construction
	id objectid.ID
}

func (o opens) open([]byte) (objectid.ID, int) { return o.id, 1 }

// Where two keys open, the first counts.
func TestFirstKeyCounts(t *testing.T) {
	s := threeKeys(t, Short)
	s.keys[1], s.keys[2] = opens{id: objectid.ID{1}}, opens{id: objectid.ID{2}}
	if id, err := s.OpenBytes(make([]byte, 16)); id != (objectid.ID{1}) || err != nil {
		t.Errorf("%v, %v", id, err)
	}
	if id, err := s.OpenBytes(s.SealBytes(exampleID)); id != exampleID || err != nil {
		t.Errorf("%v, %v", id, err)
	}
}

// counted is a cipher that counts its calls.
type counted struct {
	cipher.Block
	calls *int
}

func (c counted) Encrypt(dst, src []byte) { *c.calls++; c.Block.Encrypt(dst, src) }
func (c counted) Decrypt(dst, src []byte) { *c.calls++; c.Block.Decrypt(dst, src) }

// A forged id takes as many calls of AES as a genuine one, whichever key opens it, and
// wherever the forgery shows.
func TestSameWork(t *testing.T) {
	for form, want := range map[Form]int{Short: 3, Long: 6} {
		s := threeKeys(t, form)
		all := [][]byte{make([]byte, forms[form].size)}
		for _, k := range s.keys {
			all = append(all, k.seal(exampleID))
			for _, at := range []int{0, 11, 15, forms[form].size - 1} {
				forged := k.seal(exampleID)
				forged[at] ^= 1
				all = append(all, forged)
			}
		}
		calls := 0
		for i, k := range s.keys {
			switch c := k.(type) {
			case block:
				c.aes = counted{c.aes, &calls}
				s.keys[i] = c
			case siv:
				c.mac, c.ctr = counted{c.mac, &calls}, counted{c.ctr, &calls}
				s.keys[i] = c
			}
		}
		for _, b := range all {
			calls = 0
			if _, _ = s.OpenBytes(b); calls != want {
				t.Errorf("%v: %x takes %d calls of AES, want %d", form, b, calls, want)
			}
		}
	}
}
