package pgstore

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// edges are numbers that the encoding might round in the wrong direction.
func edges() (keys []store.Key) {
	add := func(f float64) {
		if key, err := store.FloatKey(f); err == nil {
			keys = append(keys, key)
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, 0.5, 1, 1.5, 1 << 52, 1 << 53, 1 << 62, 1 << 63, 1 << 64, math.MaxFloat64, math.Inf(1)} {
		for _, g := range []float64{f, math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1))} {
			add(g)
			add(-g)
		}
	}
	for shift := range 64 {
		for d := int64(-1025); d <= 1025; d += 205 {
			keys = append(keys, store.IntKey(1<<shift+d), store.IntKey(-1<<shift+d))
		}
		for d := int64(-2); d <= 2; d++ {
			keys = append(keys, store.IntKey(1<<shift+d), store.IntKey(-1<<shift+d))
		}
	}
	return append(keys, store.IntKey(math.MaxInt64), store.IntKey(math.MinInt64), store.IntKey(math.MinInt64+1))
}

// random returns a key of any kind, often one that is close to other keys.
func random(r *rand.Rand) store.Key {
	switch r.IntN(6) {
	case 0:
		return store.IntKey(int64(r.Uint64()) >> r.IntN(64))
	case 1:
		key, err := store.FloatKey(math.Float64frombits(r.Uint64()))
		if err != nil {
			return store.IntKey(0) // not a number
		}
		return key
	case 2: // a number that both types have, or its neighbour
		key, _ := store.FloatKey(float64(int64(r.Uint64())>>r.IntN(64)) + float64(r.IntN(3))/2)
		return key
	case 3:
		key, _ := store.StringKey(strings.Repeat(string(rune('a'+r.IntN(2))), r.IntN(4)) + []string{"", "\x00", "\x00\x00", "ä", "\U0010FFFF"}[r.IntN(5)])
		return key
	case 4:
		var id objectid.ID
		id[r.IntN(len(id))] = byte(r.Uint32())
		return store.IDKey(id)
	}
	all := edges()
	return all[r.IntN(len(all))]
}

// compare compares keys without Key.Compare. It compares numbers exactly.
func compare(a, b store.Key) int {
	rank := func(key store.Key) int {
		switch key.Value().(type) {
		case int64, float64:
			return 0
		case string:
			return 1
		}
		return 2
	}
	if rank(a) != rank(b) {
		return rank(a) - rank(b)
	}
	exact := func(key store.Key) *big.Float {
		if n, ok := key.Value().(int64); ok {
			return new(big.Float).SetInt64(n)
		}
		return big.NewFloat(key.Value().(float64))
	}
	switch v := a.Value().(type) {
	case string:
		return strings.Compare(v, b.Value().(string))
	case objectid.ID:
		other := b.Value().(objectid.ID)
		return bytes.Compare(v[:], other[:])
	}
	return exact(a).Cmp(exact(b))
}

func sign(n int) int { return max(-1, min(1, n)) }

func checkOrder(t *testing.T, a, b store.Key) {
	t.Helper()
	x, err := encode(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := encode(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bytes.Compare(x, y), sign(compare(a, b)); got != want {
		t.Fatalf("encoded %v and %v compare as %d, want %d", a, b, got, want)
	}
}

func TestKeysKeepTheirOrder(t *testing.T) {
	testenv.WithoutRace(t)
	all := edges()
	step := testenv.Size(8, 1)
	for i, a := range all {
		for k := i % step; k < len(all); k += step {
			checkOrder(t, a, all[k])
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([]store.Key, 3000)
	for i := range keys {
		keys[i] = random(r)
	}
	for range testenv.Size(50_000, 300_000) {
		checkOrder(t, keys[r.IntN(len(keys))], keys[r.IntN(len(keys))])
	}
}

func TestKeysThatAreTooLong(t *testing.T) {
	for n, want := range map[int]error{maxString: nil, maxString + 1: store.ErrKey} {
		key, err := store.StringKey(strings.Repeat("x", n))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := encode(key); !errors.Is(err, want) {
			t.Errorf("string of %d bytes: %v, want %v", n, err, want)
		}
	}
	if _, err := encode(store.Key{}); !errors.Is(err, store.ErrKey) {
		t.Errorf("the zero Key: %v, want ErrKey", err)
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(int64(1), 0.5, "a", "b")
	f.Add(int64(math.MaxInt64), 0x1p63, "", "\x00")
	f.Fuzz(func(t *testing.T, n int64, x float64, s, u string) {
		keys := []store.Key{store.IntKey(n)}
		if key, err := store.FloatKey(x); err == nil {
			keys = append(keys, key)
		}
		for _, s := range []string{s, u} {
			if key, err := store.StringKey(s); err == nil && len(s) <= maxString {
				keys = append(keys, key)
			}
		}
		for _, a := range keys {
			for _, b := range keys {
				checkOrder(t, a, b)
			}
		}
	})
}
