package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

// The tests of this file have the key: they make what an attacker would have to guess.

var exampleID = objectid.MustParse("507f1f77bcf86cd799439011")

// threeKeys returns a Sealer with three keys.
func threeKeys(t *testing.T) *Sealer {
	t.Helper()
	var keys []Key
	for _, digit := range []string{"1", "2", "3"} {
		key, err := ParseKey(strings.Repeat(digit, 64))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	s, err := New(&Options{Kind: "order", Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each bit that is there to recognise a forgery by is compared, under each key.
func TestEveryBitIsChecked(t *testing.T) {
	s := threeKeys(t)
	for i, key := range s.keys {
		for bit := 96; bit < 128; bit++ {
			b := append(exampleID[:], 0, 0, 0, 0)
			b[bit/8] ^= 0x80 >> (bit % 8)
			key.Encrypt(b, b)
			if id, err := s.OpenBytes(b); !errors.Is(err, ErrNotSealed) {
				t.Errorf("key %d, bit %d: it opens as %v", i, bit, id)
			}
		}
	}
}

// opens is a cipher under which everything opens as one id.
type opens struct {
	cipher.Block
	id objectid.ID
}

func (o opens) Decrypt(dst, _ []byte) {
	clear(dst)
	copy(dst, o.id[:])
}

// Where two keys open, the first counts.
func TestFirstKeyCounts(t *testing.T) {
	s := threeKeys(t)
	s.keys[1], s.keys[2] = opens{id: objectid.ID{1}}, opens{id: objectid.ID{2}}
	if id, err := s.OpenBytes(make([]byte, Size)); id != (objectid.ID{1}) || err != nil {
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
	s := threeKeys(t)
	all := [][]byte{make([]byte, aes.BlockSize)}
	calls := 0
	for i, key := range s.keys {
		genuine := append(exampleID[:], 0, 0, 0, 0)
		key.Encrypt(genuine, genuine)
		all = append(all, genuine)
		for _, at := range []int{0, 11, 15} {
			forged := append([]byte(nil), genuine...)
			forged[at] ^= 1
			all = append(all, forged)
		}
		s.keys[i] = counted{key, &calls}
	}
	for _, b := range all {
		calls = 0
		if _, _ = s.OpenBytes(b); calls != 3 {
			t.Errorf("%x takes %d calls of AES, want 3", b, calls)
		}
	}
}
