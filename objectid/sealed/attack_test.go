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
	for _, form := range sealed.Forms {
		s := sealer(t, form, "order", testKey)
		genuine := s.SealBytes(victim)
		for i := range 8 * len(genuine) {
			for j := i; j < 8*len(genuine); j++ {
				forged := bytes.Clone(genuine)
				forged[i/8] ^= 1 << (i % 8)
				if j > i {
					forged[j/8] ^= 1 << (j % 8)
				}
				if id, err := s.OpenBytes(forged); !errors.Is(err, sealed.ErrNotSealed) || !id.IsZero() {
					t.Fatalf("%v: with the bits %d and %d changed it opens as %v, %v", form, i, j, id, err)
				}
			}
		}
	}
}

// Parts of two sealed ids, put together, do not open.
func TestSplices(t *testing.T) {
	next := victim
	next[11]++
	for _, form := range sealed.Forms {
		s := sealer(t, form, "order", testKey)
		a, b := s.SealBytes(victim), s.SealBytes(next)
		for i := 1; i < len(a); i++ {
			for _, forged := range [][]byte{append(a[:i:i], b[i:]...), append(b[:i:i], a[i:]...)} {
				if id, err := s.OpenBytes(forged); !errors.Is(err, sealed.ErrNotSealed) {
					t.Errorf("%v: cut at %d: %v, %v", form, i, id, err)
				}
			}
		}
	}
}

// Only one text opens: not one that is longer, shorter, or spelt in another way.
func TestOtherTexts(t *testing.T) {
	for _, form := range sealed.Forms {
		s := sealer(t, form, "order", testKey)
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
		if upper := strings.ToUpper(genuine); upper != genuine {
			refused(t, "upper case", s, upper)
		}
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
	}
	// Padding, the other base64, and hyphens elsewhere in a UUID.
	short, uuid := sealer(t, sealed.Short, "order", testKey), sealer(t, sealed.UUID, "order", testKey)
	for n := range 1000 {
		id := victim
		id[10] = byte(n)
		b := short.SealBytes(id)
		refused(t, "padding", short, base64.URLEncoding.EncodeToString(b))
		if std := base64.RawStdEncoding.EncodeToString(b); strings.ContainsAny(std, "+/") {
			refused(t, "base64", short, std)
		}
	}
	digits := strings.ReplaceAll(uuid.Seal(victim), "-", "")
	refused(t, "no hyphens", uuid, digits)
	refused(t, "hyphens elsewhere", uuid, "-"+digits[:8]+digits[8:12]+"-"+digits[12:16]+"-"+digits[16:20]+"-"+digits[20:])
	refused(t, "hyphens at the end", uuid, digits+"----")
}

// The sealed id of one kind, form or key does not open as another, however alike they are.
func TestRelated(t *testing.T) {
	type how struct {
		form      sealed.Form
		kind, key string
	}
	var all []how
	for _, form := range sealed.Forms {
		for _, kind := range []string{"order", "orders", "Order", "order ", " order", "orde", "r", "order\x00", "short:order", "uuid:order", ":order", "order:", "\x00", "\u00e9", "e\u0301"} {
			for _, key := range []string{testKey, otherKey, testKey[2:] + "20", "01" + testKey[2:], testKey[32:] + testKey[:32], strings.Repeat("0", 64)} {
				all = append(all, how{form, kind, key})
			}
		}
	}
	seen := map[string]how{}
	for _, by := range all {
		text := sealer(t, by.form, by.kind, by.key).Seal(victim)
		if other, taken := seen[text]; taken {
			t.Errorf("%v and %v seal alike: %s", by, other, text)
		}
		seen[text] = by
	}
	for _, under := range all {
		s := sealer(t, under.form, under.kind, under.key)
		for text, by := range seen {
			if by != under {
				refused(t, "related", s, text)
			}
		}
	}
}

// A form of the same size does not open as the other, not even where it looks like one.
func TestFormsDoNotMix(t *testing.T) {
	short, uuid := sealer(t, sealed.Short, "order", testKey), sealer(t, sealed.UUID, "order", testKey)
	alike := 0
	for n := range 1 << 12 {
		id := victim
		id[10], id[11] = byte(n>>8), byte(n)
		b := short.SealBytes(id)
		if b[6]>>4 == 8 && b[8]>>6 == 2 {
			alike++
		}
		if got, err := uuid.OpenBytes(b); !errors.Is(err, sealed.ErrNotSealed) {
			t.Errorf("a short id opens as the UUID of %v, %v", got, err)
		}
		if got, err := short.OpenBytes(uuid.SealBytes(id)); !errors.Is(err, sealed.ErrNotSealed) {
			t.Errorf("a UUID opens as the short id of %v, %v", got, err)
		}
	}
	if alike < 32 {
		t.Errorf("%d short ids look like a UUID, want about 64", alike)
	}
}

// Guesses do not open: 2^12 of each form, also those that look like what the cipher returns.
func TestGuesses(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	for _, form := range sealed.Forms {
		s := sealer(t, form, "order", testKey)
		guess := s.SealBytes(victim)
		for range 1 << 12 {
			_, _ = random.Read(guess)
			if form == sealed.UUID {
				guess[6], guess[8] = guess[6]&0x0F|0x80, guess[8]&0x3F|0x80
			}
			if id, err := s.OpenBytes(guess); err == nil {
				t.Errorf("%v: the guess %x opens as %v", form, guess, id)
			}
		}
	}
}

// Ids that follow each other have sealed ids that are as far apart as random ones, and a
// sealed id has no bit that always is the same, but for those of a UUID.
func TestNothingLeaks(t *testing.T) {
	const n = 4096
	for _, form := range sealed.Forms {
		s := sealer(t, form, "order", testKey)
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
		free := size
		for bit, count := range ones {
			if form == sealed.UUID && (bit >= 48 && bit < 52 || bit >= 64 && bit < 66) {
				free--
				continue
			}
			if count < n/2-n/16 || count > n/2+n/16 { // 8 standard deviations
				t.Errorf("%v: bit %d is set in %d of %d", form, bit, count, n)
			}
		}
		if mean := float64(changed) / float64(n-1); mean < 0.48*float64(free) || mean > 0.52*float64(free) {
			t.Errorf("%v: %.1f bits differ between neighbours, want about half of %d", form, mean, free)
		}
		if slices.IsSorted(all) || len(slices.Compact(slices.Sorted(slices.Values(all)))) != n {
			t.Errorf("%v: the sealed ids are in order, or not all different", form)
		}
	}
}
