package sealed

import (
	"crypto/cipher"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

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
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	var keys []Key
	for _, digit := range []string{"1", "2", "3"} {
		key, err := ParseKey(strings.Repeat(digit, 64))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	for form, want := range map[Form]int{Short: 3, Long: 6} {
		s, err := New(Options{Kind: "order", Form: form, Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		all := [][]byte{make([]byte, forms[form].size)}
		for _, k := range s.keys {
			all = append(all, k.seal(id))
			for _, at := range []int{0, 11, 15, forms[form].size - 1} {
				forged := k.seal(id)
				forged[at] ^= 1
				all = append(all, forged)
			}
		}
		calls := 0
		for i, k := range s.keys {
			switch c := k.(type) {
			case block:
				s.keys[i] = block{counted{c.aes, &calls}}
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
