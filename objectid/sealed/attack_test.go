package sealed_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/objectid/sealed"
)

// The attacks below are with fixed keys and ids, and a fixed source of random numbers: they
// end in the same way each time.

var victim = objectid.MustParse("507f1f77bcf86cd799439011")

// refused reports an attack that succeeded.
func refused(t *testing.T, what string, s *sealed.Sealer, text string) {
	t.Helper()
	if id, err := s.Open(text); !errors.Is(err, sealed.ErrNotSealed) || !id.IsZero() {
		t.Errorf("%s: %q opens as %v, %v", what, text, id, err)
	}
}

// No change of one bit or of two opens.
func TestBitFlips(t *testing.T) {
	s := sealer(t, "order", testKey)
	genuine := s.SealBytes(victim)
	for i := range 8 * len(genuine) {
		for j := i; j < 8*len(genuine); j++ {
			forged := bytes.Clone(genuine)
			forged[i/8] ^= 1 << (i % 8)
			if j > i {
				forged[j/8] ^= 1 << (j % 8)
			}
			if id, err := s.OpenBytes(forged); !errors.Is(err, sealed.ErrNotSealed) || !id.IsZero() {
				t.Fatalf("with the bits %d and %d changed it opens as %v, %v", i, j, id, err)
			}
		}
	}
}

// Parts of two sealed ids, put together, do not open.
func TestSplices(t *testing.T) {
	next := victim
	next[11]++
	s := sealer(t, "order", testKey)
	a, b := s.SealBytes(victim), s.SealBytes(next)
	for i := 1; i < len(a); i++ {
		for _, forged := range [][]byte{append(a[:i:i], b[i:]...), append(b[:i:i], a[i:]...)} {
			if id, err := s.OpenBytes(forged); !errors.Is(err, sealed.ErrNotSealed) {
				t.Errorf("cut at %d: %v, %v", i, id, err)
			}
		}
	}
}

// Only one text opens: not one that is longer, shorter, or spelt in another way.
func TestOtherTexts(t *testing.T) {
	s := sealer(t, "order", testKey)
	genuine := s.Seal(victim)
	raw := s.SealBytes(victim)
	refused(t, "bytes", s, string(raw))
	refused(t, "hex", s, hex.EncodeToString(raw))
	refused(t, "HEX", s, strings.ToUpper(hex.EncodeToString(raw)))
	refused(t, "base64 of the text", s, base64.RawURLEncoding.EncodeToString([]byte(genuine)))
	refused(t, "the id itself", s, victim.String())
	refused(t, "twice", s, genuine+genuine)
	refused(t, "braces", s, "{"+genuine+"}")
	refused(t, "urn", s, "urn:uuid:"+genuine)
	refused(t, "upper case", s, strings.ToUpper(genuine))
	for i := range len(genuine) + 1 {
		refused(t, "cut", s, genuine[:max(i-1, 0)])
		for _, c := range []string{"=", "\n", "\r", "\r\n", " ", "\t", "\x00", "A", "0", "-", "_", "+", "/", "%", ".", "é", "\xff", "\u200b", "a", "８"} {
			refused(t, "inserted", s, genuine[:i]+c+genuine[i:])
			if i+len(c) <= len(genuine) && genuine[i:i+len(c)] != c {
				refused(t, "replaced", s, genuine[:i]+c+genuine[i+len(c):])
			}
		}
	}
	// The last character of base64 has bits that decoders ignore.
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/"
	for _, c := range alphabet {
		if last := genuine[:len(genuine)-1] + string(c); last != genuine {
			refused(t, "last character", s, last)
		}
	}
	// Padding, and the other base64.
	for n := range 1000 {
		id := victim
		id[10] = byte(n)
		b := s.SealBytes(id)
		refused(t, "padding", s, base64.URLEncoding.EncodeToString(b))
		if std := base64.RawStdEncoding.EncodeToString(b); strings.ContainsAny(std, "+/") {
			refused(t, "base64", s, std)
		}
	}
}

// The sealed id of one kind or key does not open as another, however alike they are.
func TestRelated(t *testing.T) {
	type how struct{ kind, key string }
	var all []how
	for _, kind := range []string{"order", "orders", "Order", "order ", " order", "orde", "r", "order\x00", "v1 order", ":order", "order:", "\x00", "\u00e9", "e\u0301"} {
		for _, key := range []string{testKey, otherKey, testKey[2:] + "20", "01" + testKey[2:], testKey[32:] + testKey[:32], strings.Repeat("0", 64)} {
			all = append(all, how{kind, key})
		}
	}
	seen := map[string]how{}
	for _, by := range all {
		text := sealer(t, by.kind, by.key).Seal(victim)
		if other, taken := seen[text]; taken {
			t.Errorf("%v and %v seal alike: %s", by, other, text)
		}
		seen[text] = by
	}
	for _, under := range all {
		s := sealer(t, under.kind, under.key)
		for text, by := range seen {
			if by != under {
				refused(t, "related", s, text)
			}
		}
	}
}

// Guesses do not open: 2^14 of them.
func TestGuesses(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	s := sealer(t, "order", testKey)
	guess := s.SealBytes(victim)
	for range 1 << 14 {
		_, _ = random.Read(guess)
		if id, err := s.OpenBytes(guess); err == nil {
			t.Errorf("the guess %x opens as %v", guess, id)
		}
	}
}

// Ids that follow each other have sealed ids that are as far apart as random ones, and no
// bit of a sealed id always is the same.
func TestNothingLeaks(t *testing.T) {
	const n = 4096
	s := sealer(t, "order", testKey)
	var before []byte
	size := 8 * len(s.SealBytes(victim))
	ones, changed := make([]int, size), 0
	var all []string
	for i := range n {
		id := victim
		id[10], id[11] = byte(i>>8), byte(i)
		b := s.SealBytes(id)
		for bit := range ones {
			ones[bit] += int(b[bit/8] >> (7 - bit%8) & 1)
		}
		for i := range before {
			changed += bits.OnesCount8(before[i] ^ b[i])
		}
		before = b
		all = append(all, string(b))
	}
	for bit, count := range ones {
		if count < n/2-n/16 || count > n/2+n/16 { // 8 standard deviations
			t.Errorf("bit %d is set in %d of %d", bit, count, n)
		}
	}
	if mean := float64(changed) / float64(n-1); mean < 0.48*float64(size) || mean > 0.52*float64(size) {
		t.Errorf("%.1f bits differ between neighbours, want about half of %d", mean, size)
	}
	if slices.IsSorted(all) || len(slices.Compact(slices.Sorted(slices.Values(all)))) != n {
		t.Error("the sealed ids are in order, or not all different")
	}
}
